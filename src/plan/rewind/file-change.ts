import type { FileState } from '../../model/event.js';
import type { BlobHash } from '../../model/ids.js';

/** What is at a path of the workspace now, read and never followed. */
export type PresentState =
  | {
      readonly kind: 'file';
      readonly hash: BlobHash;
      readonly bytes: number;
      /** Permission bits. */
      readonly mode: number;
      /** Milliseconds since 1970. */
      readonly mtimeMs: number;
    }
  | {
      readonly kind: 'absent';
      readonly missingFolders: number;
      /** What is in the place of the outermost of the missing folders, and would have to go for it. */
      readonly behind?: string | undefined;
    }
  | { readonly kind: 'link'; readonly target: string; readonly mtimeMs: number }
  | {
      readonly kind: 'folder';
      /**
       * Resolved paths of the files in it, at any depth, and of folders in it that are empty or cannot be changed. It
       * may end with the first that no checkpoint names. Undefined where nobody looked.
       */
      readonly holds?: readonly string[] | undefined;
    }
  | { readonly kind: 'special' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'blocked' };

/** What a plan does with one file. */
export type FileAction = 'restore' | 'delete' | 'leave' | 'conflict' | 'impossible';

/** A file and the state that it is to get, in a rewind, an undo, a restore or a roll-back: what it is, and what is done. */
export interface FileChange {
  /** As the checkpoint names it. */
  readonly path: string;
  /** Inside the workspace, without links and `..`; the same file has the same one under every name. */
  readonly resolved: string;
  readonly wanted: FileState;
  readonly present: PresentState;
  readonly action: FileAction;
  readonly reason: string;
  /** What a forced plan would do instead of refusing a conflict. */
  readonly forced?: 'restore' | 'delete';
  /** The modes of the innermost folders above it, outermost first, for when they have to be made again. */
  readonly folderModes?: readonly number[];
  /** When it was last changed, milliseconds since 1970, where it is rolled back: it must not look newly written. */
  readonly mtimeMs?: number | undefined;
}

/** Tells whether a path has what is wanted already, mode included where it is known. */
export function hasState(present: PresentState, wanted: FileState): boolean {
  switch (wanted.kind) {
    case 'absent':
      return present.kind === 'absent';
    case 'link':
      return present.kind === 'link' && present.target === wanted.target;
    case 'stored':
      return (
        present.kind === 'file' && present.hash === wanted.hash && (wanted.mode === 0 || present.mode === wanted.mode)
      );
    case 'skipped':
      return false;
    default:
      return wanted satisfies never;
  }
}

/** Tells whether the content, or the link's target, is the same; modes and times aside. */
export function hasContent(present: PresentState, state: FileState): boolean {
  if (state.kind === 'stored') return present.kind === 'file' && present.hash === state.hash;
  return hasState(present, state);
}
