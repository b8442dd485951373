import { AmbiguousNameError, SessionNotFoundError, UsageError } from '../errors.js';
import { parseSessionId, type SessionId, trimSpace, validSessionId } from '../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../model/metadata.js';
import { closestTo } from './close-names.js';

/** The sessions that a name can mean. */
export interface KnownSessions {
  /** Whole ones, newest activity first. */
  readonly sessions: readonly SessionMetadata[];
  /** Damaged ones: they have an id, and nothing else that can be trusted. */
  readonly unreadable: readonly { readonly sessionId: string }[];
}

const LATEST = 'latest';
const BEFORE_LATEST = /^@\{-(0|[1-9]\d*)\}$/;
const PARENT = 'parent:';
const ROOT = 'root:';
const ID = 'id:';
const TITLE = 'title:';
const PREFIXES = /^(?:(?:parent|root|id|title):\s*)+/;
const NAMES_HINT = 'Give an id or its beginning, a whole title, or latest.';

/**
 * Gives the session that a name means, by the first rule that finds anything. Never a guess.
 *
 * The rules: `latest` and `@{-N}`; `parent:S` and `root:S`; `id:ID` and `title:TEXT`; a full id; the beginning of an id;
 * a whole title. Ids are compared exactly; space around the name, or around a title, does not matter.
 * @throws UsageError (`USAGE`) when the name is blank.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`), with the ids of sessions that come close.
 * @throws AmbiguousNameError (`AMBIGUOUS_NAME`), with the ids of all that it fits.
 * @see CLI.md, "Sessions are named"
 */
export function resolveSelector(text: string, known: KnownSessions): SessionId {
  const name = trimSpace(text);
  const [found] = name === '' ? [] : sessionsNamed(name, known);
  if (found !== undefined) return parseSessionId(found);
  const plain = trimSpace(name.replace(PREFIXES, ''));
  if (plain === '') throw new UsageError(`No session is named by ${JSON.stringify(text)}`, NAMES_HINT);
  throw new SessionNotFoundError(name, closestTo(plain, known));
}

/**
 * Gives the id that a name is by its form, where no rule before that for full ids can take it for something else;
 * undefined otherwise. A session with this id is what the name means; without one the other rules have to be asked.
 */
export function fullIdIn(text: string): SessionId | undefined {
  const name = trimSpace(text);
  const id = name.startsWith(ID) ? name.slice(ID.length) : name;
  return name === LATEST || !validSessionId(id) ? undefined : parseSessionId(id);
}

/** Gives the one session that a name means, or none. */
function sessionsNamed(name: string, known: KnownSessions): readonly string[] {
  // From the inside out, so that `parent:parent:…` may be as long as it likes.
  const levels = withoutRelations(name);
  let found: readonly string[] = [];
  for (const [depth, level] of levels.entries()) {
    const relation = depth === 0 ? undefined : level.startsWith(PARENT) ? PARENT : ROOT;
    const related = relation === undefined ? latestNamed(level, known) : relatedTo(found[0], relation, known);
    found = related.length > 0 ? related : plainlyNamed(level, known);
    if (found.length > 1) throw new AmbiguousNameError(level, found);
  }
  return found;
}

/** Gives a name and the names in it that stand behind `parent:` or `root:`, the innermost first. */
function withoutRelations(name: string): readonly string[] {
  const levels = [name];
  for (let level = name; level.startsWith(PARENT) || level.startsWith(ROOT); ) {
    level = trimSpace(level.slice(level.indexOf(':') + 1));
    levels.unshift(level);
  }
  return levels;
}

function latestNamed(name: string, { sessions }: KnownSessions): readonly string[] {
  const steps = name === LATEST ? '0' : BEFORE_LATEST.exec(name)?.[1];
  if (steps === undefined) return [];
  const resumable = sessions.filter(({ sessionKind }) => isResumableKind(sessionKind));
  const session = resumable[Number(steps)];
  return session === undefined ? [] : [session.sessionId];
}

function relatedTo(id: string | undefined, relation: string, known: KnownSessions): readonly string[] {
  const session = known.sessions.find(({ sessionId }) => sessionId === id);
  if (session === undefined) return [];
  const related = relation === PARENT ? session.parentSessionId : rootOf(session, known);
  return related === undefined ? [] : withId(related, known);
}

// The root is recorded; where it is not, it is found by going up.
function rootOf(session: SessionMetadata, { sessions }: KnownSessions): string | undefined {
  const seen = new Set<string>();
  let id = session.sessionId;
  let at: SessionMetadata | undefined = session;
  while (at !== undefined && !seen.has(id)) {
    if (at.rootSessionId !== undefined) return at.rootSessionId;
    if (at.parentSessionId === undefined) return id;
    seen.add(id);
    id = at.parentSessionId;
    at = sessions.find(({ sessionId }) => sessionId === id);
  }
  return undefined;
}

function plainlyNamed(name: string, known: KnownSessions): readonly string[] {
  if (name.startsWith(ID)) return withId(trimSpace(name.slice(ID.length)), known);
  if (name.startsWith(TITLE)) return withTitle(trimSpace(name.slice(TITLE.length)), known);
  if (name === '') return [];
  for (const rule of [withId, beginningWith, withTitle]) {
    const found = rule(name, known);
    if (found.length > 0) return found;
  }
  return [];
}

function withId(id: string, known: KnownSessions): readonly string[] {
  return idsOf(known).includes(id) ? [id] : [];
}

function beginningWith(beginning: string, known: KnownSessions): readonly string[] {
  return idsOf(known).filter((id) => id.startsWith(beginning));
}

function withTitle(title: string, { sessions }: KnownSessions): readonly string[] {
  if (title === '') return [];
  return sessions.filter((session) => trimSpace(session.title ?? '') === title).map(({ sessionId }) => sessionId);
}

function idsOf({ sessions, unreadable }: KnownSessions): readonly string[] {
  return [...sessions, ...unreadable].map(({ sessionId }) => sessionId);
}
