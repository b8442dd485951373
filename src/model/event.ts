import type { BlobHash, EventId, Sequence } from './ids.js';
import type { RawJson } from './json.js';

/** The event types that have a name here; an unknown one is kept, copied and shown like any other (FORMAT.md, 3). */
export const EVENT_TYPES = [
  'message',
  'tool_call',
  'permission',
  'permission_request',
  'permission_decision',
  'tool_result',
  'provider_usage',
  'error',
  'session_checkpoint',
  'session_rewind',
  'session_compaction',
  'session_fork',
  'session_child',
  'specialist_start',
  'specialist_stop',
  'spec_draft',
  'spec_approved',
  'spec_rejected',
  'goal_created',
  'goal_updated',
  'goal_cleared',
] as const;

export type KnownEventType = (typeof EVENT_TYPES)[number];
/** A known type, or the text of one from another version. */
export type EventType = KnownEventType | (string & {});

/** One line of the log. The payload stays the bytes that were written: what we copy is never encoded anew. */
export interface StoredEvent {
  /** As stored, and so it may be blank: `eventName` gives the name that such an event goes by. */
  readonly id: EventId;
  readonly sessionId: string;
  /** The nearest that a number can hold, where that is not exact. */
  readonly sequence: Sequence;
  /** The sequence as written, only where a number cannot hold it. Such a log can be read and shown, not written to. */
  readonly exactSequence?: string;
  /** As stored; blank in a line without a type. */
  readonly type: EventType;
  /** As stored; RFC 3339 where well formed. */
  readonly createdAt: string;
  readonly payload: RawJson | undefined;
}

/** What plans keep of an event: no payload, since a log can be larger than memory. */
export interface EventRef {
  readonly id: string;
  readonly sequence: number;
  /** As in {@link StoredEvent}. */
  readonly exactSequence?: string;
  readonly type: EventType;
  readonly createdAt?: string;
}

/** An event that is to be appended. Sequence, id and time are the store's to give. */
export interface EventInput {
  readonly type: EventType;
  /** A JSON value, or JSON text as bytes (`rawJson`); null and undefined mean no payload. */
  readonly payload?: unknown;
}

/** One file of a checkpoint as it stands on disk (FORMAT.md, 3 and 5). */
export interface CheckpointEntry {
  readonly path: string;
  readonly blob?: string;
  readonly absent?: boolean;
  readonly skipped?: boolean;
  readonly bytes?: number;
  readonly mode?: number;
  /** The target of the symbolic link that the path was; ours. */
  readonly link?: string;
  /** How many folders above an absent file were missing as well; ours. */
  readonly newDirs?: number;
  /** The modes of the innermost folders above the file, outermost first, where one of them is not the usual; ours. */
  readonly dirModes?: readonly number[];
}

/** The payload of a `session_checkpoint` event as it stands on disk. */
export interface CheckpointPayload {
  readonly tool: string;
  readonly files: readonly CheckpointEntry[];
}

/** What a path was before a change: exactly one of these. */
export type FileState =
  | {
      readonly kind: 'stored';
      readonly blob: string;
      readonly hash: BlobHash | undefined;
      readonly mode: number;
      readonly bytes: number;
    }
  | { readonly kind: 'absent'; readonly newDirs: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'skipped'; readonly bytes: number };

/** One file of a checkpoint, decoded. */
export interface CheckpointFile {
  readonly path: string;
  readonly state: FileState;
  /** The modes of the innermost folders above it, outermost first, for when they have to be made again. */
  readonly folderModes?: readonly number[] | undefined;
}

/** What we understand of an event: decoded when somebody needs to know, never written back. */
export type EventView =
  | { readonly type: 'message'; readonly role: string; readonly content: string; readonly answers: readonly string[] }
  | { readonly type: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'tool_result';
      readonly callId: string;
      readonly name: string;
      readonly status: string;
      readonly output: string;
      readonly changedFiles: readonly string[];
      readonly truncated: boolean;
    }
  | { readonly type: 'permission'; readonly name: string; readonly action: string; readonly tool: string }
  | { readonly type: 'usage'; readonly prompt: number; readonly completion: number; readonly total: number }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'checkpoint'; readonly tool: string; readonly files: readonly CheckpointFile[] }
  | {
      readonly type: 'rewind';
      readonly target: number;
      readonly restored: number;
      readonly deleted: number;
      readonly skipped: readonly string[];
      readonly rewindId: string;
      readonly undoes: string;
    }
  | { readonly type: 'compaction'; readonly summary: string; readonly compacted: number; readonly preserved: number }
  | { readonly type: 'fork'; readonly parent: string; readonly sequence: number; readonly copied: number }
  | {
      readonly type: 'child';
      readonly parent: string;
      readonly child: string;
      readonly agent: string;
      readonly prompt: string;
    }
  | { readonly type: 'other'; readonly name: string };

/** Where a damaged line stands and what is wrong with it. */
export interface LineDamage {
  /** 1-based; 0 when the log is read from its end. */
  readonly line: number;
  readonly code: 'LOG_DAMAGED';
  readonly message: string;
}

/** The tool name of the checkpoint that announces a rewind (FORMAT.md, 6). */
export const REWIND_INTENT_TOOL = 'zero-sessions/rewind-intent';
/** The tool name of the checkpoint that holds what a restore of files replaced (FORMAT.md, 6). */
export const RESTORE_TOOL = 'zero-sessions/restore';
/** Checkpoints whose tool begins so are ours and are no checkpoint of the user's (CLI.md, positions). */
export const OWN_TOOL_PREFIX = 'zero-sessions/';
