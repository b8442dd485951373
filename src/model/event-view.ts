import { PayloadDamagedError } from '../errors.js';
import { decodeCheckpoint } from './checkpoint-codec.js';
import type { EventView, StoredEvent } from './event.js';
import { isRecord, parseRawJson } from './json.js';

const TOO_DEEP = '(nested too deep to show)';

/** Gives what we understand of an event, for showing it. Never fails: what cannot be decoded is `other`. */
export function viewEvent(event: StoredEvent): EventView {
  const other: EventView = { type: 'other', name: event.type };
  const payload = payloadFieldsOf(event);
  switch (event.type) {
    case 'message':
      return {
        type: 'message',
        role: looseText(payload, 'role'),
        content: looseText(payload, 'content'),
        answers: looseTexts(payload, 'answers'),
      };
    case 'tool_call':
      return {
        type: 'tool_call',
        callId: callIdOf(payload),
        name: toolNameOf(payload),
        arguments: looseText(payload, 'arguments'),
      };
    case 'tool_result':
      return {
        type: 'tool_result',
        callId: callIdOf(payload),
        name: toolNameOf(payload),
        status: looseText(payload, 'status'),
        output: looseText(payload, 'output'),
        changedFiles: looseTexts(payload, 'changedFiles'),
        truncated: payload.truncated === true,
      };
    case 'permission':
    case 'permission_request':
    case 'permission_decision':
      return {
        type: 'permission',
        name: event.type,
        action: looseText(payload, 'action') || looseText(payload, 'permission'),
        tool: looseText(payload, 'toolName') || looseText(payload, 'name'),
      };
    case 'provider_usage':
      return {
        type: 'usage',
        prompt: looseNumber(payload, 'promptTokens'),
        completion: looseNumber(payload, 'completionTokens'),
        total: looseNumber(payload, 'totalTokens'),
      };
    case 'error':
      return { type: 'error', message: looseText(payload, 'message') };
    case 'session_checkpoint':
      try {
        return { type: 'checkpoint', ...decodeCheckpoint(event) };
      } catch (error) {
        if (error instanceof PayloadDamagedError) return other;
        throw error;
      }
    case 'session_rewind': {
      const report = isRecord(payload.report) ? payload.report : {};
      return {
        type: 'rewind',
        target: looseNumber(payload, 'targetSequence'),
        restored: looseNumber(report, 'filesRestored'),
        deleted: looseNumber(report, 'filesDeleted'),
        skipped: looseTexts(report, 'skipped'),
        rewindId: looseText(payload, 'rewindId'),
        undoes: looseText(payload, 'undoes'),
      };
    }
    case 'session_compaction':
      return {
        type: 'compaction',
        summary: looseText(payload, 'summary'),
        compacted: looseNumber(payload, 'compactableCount'),
        preserved: looseNumber(payload, 'preservedCount'),
      };
    case 'session_fork':
      return {
        type: 'fork',
        parent: looseText(payload, 'parentSessionId'),
        sequence: looseNumber(payload, 'forkedFromSequence'),
        copied: looseNumber(payload, 'copiedEventCount'),
      };
    case 'session_child':
      return {
        type: 'child',
        parent: looseText(payload, 'parentSessionId'),
        child: looseText(payload, 'childSessionId'),
        agent: looseText(payload, 'agentName'),
        prompt: looseText(payload, 'prompt'),
      };
    default:
      return other;
  }
}

/** Gives the id of a call: it is written under both spellings, and Zero reads both of either (FORMAT.md, 3). */
export function callIdOf(payload: Readonly<Record<string, unknown>>): string {
  return looseText(payload, 'toolCallId') || looseText(payload, 'id');
}

function toolNameOf(payload: Readonly<Record<string, unknown>>): string {
  return looseText(payload, 'name') || looseText(payload, 'toolName');
}

/** Gives the members of a payload; none where it is no object or cannot be read. */
export function payloadFieldsOf({ payload }: Pick<StoredEvent, 'payload'>): Readonly<Record<string, unknown>> {
  if (payload === undefined) return {};
  try {
    const value = parseRawJson(payload);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function looseText(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name];
  return value === undefined || value === null ? '' : asText(value);
}

function looseTexts(record: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = record[name];
  if (!Array.isArray(value)) return [];
  return value.map(asText);
}

// JSON.stringify needs stack for every level, and a payload of somebody else's may have more of them than there is stack.
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

function looseNumber(record: Readonly<Record<string, unknown>>, name: string): number {
  const value = record[name];
  return typeof value === 'number' ? value : 0;
}
