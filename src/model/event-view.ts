import { PayloadDamagedError } from '../errors.js';
import { decodeCheckpoint } from './checkpoint-codec.js';
import type { EventView, StoredEvent } from './event.js';
import { isRecord, parseRawJson } from './json.js';

const TOO_DEEP = '(nested too deep to show)';

/** What we understand of an event, for showing it. Never fails: what cannot be decoded is `other`. */
export function viewEvent(event: StoredEvent): EventView {
  const other: EventView = { type: 'other', name: event.type };
  const payload = payloadFieldsOf(event);
  const text = (name: string) => looseText(payload, name);
  const count = (name: string) => looseNumber(payload, name);
  switch (event.type) {
    case 'message':
      return { type: 'message', role: text('role'), content: text('content'), answers: looseTexts(payload, 'answers') };
    case 'tool_call':
      return { type: 'tool_call', callId: callIdOf(payload), name: toolNameOf(payload), arguments: text('arguments') };
    case 'tool_result':
      return {
        type: 'tool_result',
        callId: callIdOf(payload),
        name: toolNameOf(payload),
        status: text('status'),
        output: text('output'),
        changedFiles: looseTexts(payload, 'changedFiles'),
        truncated: payload.truncated === true,
      };
    case 'permission':
    case 'permission_request':
    case 'permission_decision': {
      const action = text('action') || text('permission');
      return { type: 'permission', name: event.type, action, tool: text('toolName') || text('name') };
    }
    case 'provider_usage': {
      const [prompt, completion, total] = [count('promptTokens'), count('completionTokens'), count('totalTokens')];
      return { type: 'usage', prompt, completion, total };
    }
    case 'error':
      return { type: 'error', message: text('message') };
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
        target: count('targetSequence'),
        restored: looseNumber(report, 'filesRestored'),
        deleted: looseNumber(report, 'filesDeleted'),
        skipped: looseTexts(report, 'skipped'),
        rewindId: text('rewindId'),
        undoes: text('undoes'),
      };
    }
    case 'session_compaction': {
      const [compacted, preserved] = [count('compactableCount'), count('preservedCount')];
      return { type: 'compaction', summary: text('summary'), compacted, preserved };
    }
    case 'session_fork': {
      const [sequence, copied] = [count('forkedFromSequence'), count('copiedEventCount')];
      return { type: 'fork', parent: text('parentSessionId'), sequence, copied };
    }
    case 'session_child': {
      const [parent, child] = [text('parentSessionId'), text('childSessionId')];
      return { type: 'child', parent, child, agent: text('agentName'), prompt: text('prompt') };
    }
    default:
      return other;
  }
}

/** The id of a call: Zero writes it under both spellings, and reads both of either (FORMAT.md, 3). */
export function callIdOf(payload: Readonly<Record<string, unknown>>): string {
  return looseText(payload, 'toolCallId') || looseText(payload, 'id');
}

function toolNameOf(payload: Readonly<Record<string, unknown>>): string {
  return looseText(payload, 'name') || looseText(payload, 'toolName');
}

/** The members of a payload; none where it is no object or cannot be read. */
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

// JSON.stringify needs stack for every level, and somebody else's payload may have more levels than there is stack.
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
