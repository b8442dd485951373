import { InvalidArgumentError } from '../errors.js';
import type { StoredEvent } from '../model/event.js';
import { trimSpace } from '../model/ids.js';
import {
  compactJson,
  isJson,
  parseRawJson,
  type RawJson,
  rawItems,
  rawJson,
  rawJsonText,
  rawMemberValues,
} from '../model/json.js';

/** What an event must be: of a type, and with a value at a place in its payload if one is named. */
interface EventCondition {
  readonly type: string;
  readonly value: { readonly pointer: readonly string[]; readonly text: string } | undefined;
}

// The first colon that a pointer follows: a type may have one in it.
const CONDITION = /^(.*?)(?::((?:\/[^=]*)?)=(.*))?$/s;

/**
 * Reads `type`, or `type:/json/pointer=value` (RFC 6901; CLI.md, append). A string is compared without its quotes,
 * anything else as JSON text, so that `1` and `1.0` differ and no digit of a number is lost.
 */
export function parseEventCondition(text: string): EventCondition {
  const [, type = '', pointer, value] = CONDITION.exec(text) ?? [];
  if (trimSpace(type) === '') throw malformed(text, 'names no type');
  if (pointer === undefined || value === undefined) {
    if (/:\//.test(text)) throw malformed(text, 'has a pointer and no =value');
    return { type, value: undefined };
  }
  if (/~(?![01])/.test(pointer)) throw malformed(text, 'has a ~ that is neither ~0 nor ~1');
  const tokens = pointer.split('/').slice(1);
  return {
    type,
    value: { pointer: tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')), text: value },
  };
}

export function meetsCondition(event: Pick<StoredEvent, 'type' | 'payload'>, { type, value }: EventCondition): boolean {
  if (event.type !== type) return false;
  if (value === undefined) return true;
  const found = event.payload === undefined ? undefined : valueAt(event.payload, value.pointer);
  return found !== undefined && isSameValue(found, value.text);
}

function valueAt(payload: RawJson, pointer: readonly string[]): RawJson | undefined {
  let at: RawJson | undefined = payload;
  for (const token of pointer) {
    if (at === undefined) return undefined;
    const items = rawItems(at);
    if (items === undefined) at = rawMemberValues(at)?.get(token);
    else at = /^(?:0|[1-9]\d*)$/.test(token) ? items[Number(token)] : undefined;
  }
  return at;
}

function isSameValue(found: RawJson, text: string): boolean {
  const value = rawJsonText(found).trim();
  if (value.startsWith('"')) return parseRawJson(found) === text;
  const wanted = rawJson(text);
  return isJson(wanted) && rawJsonText(compactJson(wanted)) === rawJsonText(compactJson(found));
}

function malformed(text: string, reason: string): InvalidArgumentError {
  const hint = 'Give a type, or type:/json/pointer=value, such as message:/role=user.';
  return new InvalidArgumentError('unless-exists', `--unless-exists ${JSON.stringify(text)} ${reason}`, hint);
}
