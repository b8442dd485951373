import { validSessionId } from '../../model/ids.js';
import { type RawJson, rawJson } from '../../model/json.js';
import type { ExactIntegers } from '../../model/metadata.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers, JsonView } from './json.js';
import type { ListedSession } from './listed-session.js';

/** Gives a session as JSON: the members of metadata.json by their names, then `live`, then the sizes if measured. */
export function sessionJson({ session, live, sizes }: ListedSession, redaction: Redaction): JsonMembers {
  const members: Record<string, JsonView> = {};
  for (const [name, value] of membersOf(session)) members[name] = memberJson(name, value, redaction);
  return { ...members, live: live ?? null, ...sizes };
}

/** Gives the members as the file has them: a number that is known to the digit takes the place of the nearest one. */
function membersOf({ exact, ...record }: { readonly exact?: ExactIntegers }): readonly (readonly [string, unknown])[] {
  return Object.entries({ ...record, ...Object.fromEntries(Object.entries(exact ?? {}).map(digitsAsJson)) });
}

function digitsAsJson([name, digits]: readonly [string, string]): readonly [string, RawJson] {
  return [name, rawJson(digits)];
}

const TIMES: ReadonlySet<string> = new Set(['createdAt', 'updatedAt']);
const EVENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}:\d{1,19}$/;

/** Tells whether a text is the id of a session or of an event: a name that other commands take, never hidden. */
export function isName(text: string): boolean {
  return validSessionId(text) || EVENT_ID.test(text);
}

function memberJson(name: string, value: unknown, redaction: Redaction): JsonView {
  if (typeof value === 'string') {
    if (TIMES.has(name) || (/(?:SessionId|^sessionId|EventId)$/.test(name) && isName(value))) return value;
    return redaction.text(value);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'object' || value === null) return null;
  const members = membersOf(value).map(([inner, each]) => [inner, memberJson(inner, each, redaction)]);
  return Object.fromEntries(members) as JsonMembers;
}
