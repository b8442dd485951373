import { AmbiguousNameError, InvalidArgumentError, SessionNotFoundError } from '../errors.js';
import { parseSessionId, type SessionId, trimSpace, validSessionId } from '../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../model/metadata.js';
import { closestTo } from './close-names.js';

export const SELECTOR = 'session';

export interface KnownSessions {
  /** Whole ones, newest activity first. */
  readonly sessions: readonly SessionMetadata[];
  /** Damaged ones: they have an id, and nothing else that can be trusted. */
  readonly unreadable: readonly { readonly sessionId: string }[];
}

export interface NamingPlace {
  /** Whether a session worked where `here` is; without it nothing is there. */
  readonly isHere?: ((session: SessionMetadata) => boolean) | undefined;
  /** The title of a session as a terminal shows it, uncut. */
  readonly shownTitle?: ((session: SessionMetadata) => string) | undefined;
}

const LATEST = 'latest';
const HERE = 'here';
const BEFORE_LATEST = /^@(?:(0|[1-9]\d*)|\{-(0|[1-9]\d*)\})$/;
const CUT = /(?:…|\.\.\.)$/;
const PARENT = 'parent:';
const ROOT = 'root:';
const ID = 'id:';
const TITLE = 'title:';
const PREFIXES = /^(?:(?:parent|root|id|title):\s*)+/;
const NAMES_HINT = 'Give an id or its beginning, a whole title, latest or here.';

/**
 * The session that a name means, by the first rule that finds anything (CLI.md, "Sessions are named"). Never a guess.
 *
 * The rules: `latest`, `@N` and `here`; `parent:S` and `root:S`; `id:ID` and `title:TEXT`; a full id; the beginning of
 * an id; a whole title, or one as a terminal shows it. Ids are compared exactly, titles in NFC.
 * @throws InvalidArgumentError when the name is blank.
 * @throws SessionNotFoundError, with the ids of sessions that come close; AmbiguousNameError, with all that it fits.
 */
export function resolveSelector(text: string, known: KnownSessions, place: NamingPlace = {}): SessionId {
  const name = trimSpace(text);
  const { found, lost } = name === '' ? NOTHING : sessionsNamed(name, known, place);
  if (found[0] !== undefined) return parseSessionId(found[0]);
  const plain = trimSpace(name.replace(PREFIXES, ''));
  if (plain === '')
    throw new InvalidArgumentError(SELECTOR, `No session is named by ${JSON.stringify(text)}`, NAMES_HINT);
  throw new SessionNotFoundError(name, lost === undefined ? closestTo(plain, known) : [], { reason: lost });
}

/**
 * The id that a name is by its form, unless an earlier rule takes it for something else. Whether there is such a
 * session is not asked: without one the other rules have to be.
 */
export function fullIdIn(text: string): SessionId | undefined {
  const name = trimSpace(text);
  const id = name.startsWith(ID) ? name.slice(ID.length) : name;
  return name === LATEST || name === HERE || !validSessionId(id) ? undefined : parseSessionId(id);
}

interface Named {
  readonly found: readonly string[];
  /** Why there is none, where a relation leads nowhere. */
  readonly lost: string | undefined;
}

const NOTHING: Named = { found: [], lost: undefined };

function sessionsNamed(name: string, known: KnownSessions, place: NamingPlace): Named {
  // From the inside out, so that `parent:parent:…` may be as long as it likes.
  let inner = NOTHING;
  for (const [depth, level] of withoutRelations(name).entries()) {
    const relation = depth === 0 ? undefined : level.startsWith(PARENT) ? PARENT : ROOT;
    const byRule: Named =
      relation === undefined
        ? { found: latestNamed(level, known, place), lost: undefined }
        : relatedTo(inner, relation, known);
    const found = byRule.found.length > 0 ? byRule.found : plainlyNamed(level, known, place);
    if (found.length > 1) throw new AmbiguousNameError(level, found);
    inner = { found, lost: found.length > 0 ? undefined : byRule.lost };
  }
  return inner;
}

/** A name and the names in it that stand behind `parent:` or `root:`, the innermost first. */
function withoutRelations(name: string): readonly string[] {
  const levels = [name];
  for (let level = name; level.startsWith(PARENT) || level.startsWith(ROOT); ) {
    level = trimSpace(level.slice(level.indexOf(':') + 1));
    levels.unshift(level);
  }
  return levels;
}

function latestNamed(name: string, { sessions }: KnownSessions, { isHere }: NamingPlace): readonly string[] {
  const resumable = sessions.filter(({ sessionKind }) => isResumableKind(sessionKind));
  if (name === HERE) return idOf(isHere === undefined ? undefined : resumable.find(isHere));
  const [, plain, braced] = BEFORE_LATEST.exec(name) ?? [];
  const steps = name === LATEST ? '0' : (plain ?? braced);
  return steps === undefined ? [] : idOf(resumable[Number(steps)]);
}

function idOf(session: SessionMetadata | undefined): readonly string[] {
  return session === undefined ? [] : [session.sessionId];
}

function relatedTo(inner: Named, relation: string, known: KnownSessions): Named {
  const [id] = inner.found;
  if (id === undefined) return inner;
  const session = known.sessions.find(({ sessionId }) => sessionId === id);
  const word = relation === PARENT ? 'parent' : 'root';
  if (session === undefined) return { found: [], lost: `session ${id} cannot be read, so its ${word} is not known` };
  const related = relation === PARENT ? session.parentSessionId : rootOf(session, known);
  if (related === undefined) return { found: [], lost: `session ${id} has no ${word}` };
  const found = withId(related, known);
  return { found, lost: found.length > 0 ? undefined : `${related}, the ${word} of session ${id}, is not there` };
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

function plainlyNamed(name: string, known: KnownSessions, place: NamingPlace): readonly string[] {
  if (name.startsWith(ID)) return withId(trimSpace(name.slice(ID.length)), known);
  if (name.startsWith(TITLE)) return withTitle(trimSpace(name.slice(TITLE.length)), known, place);
  if (name === '') return [];
  for (const rule of [withId, beginningWith, withTitle]) {
    const found = rule(name, known, place);
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

function withTitle(title: string, { sessions }: KnownSessions, { shownTitle }: NamingPlace): readonly string[] {
  const wanted = title.normalize();
  if (wanted === '') return [];
  const titled = sessions.filter((session) => trimSpace(session.title ?? '') !== '');
  const exactly = titled.filter((session) => trimSpace(session.title ?? '').normalize() === wanted);
  const found =
    exactly.length > 0 || shownTitle === undefined
      ? exactly
      : titled.filter((session) => isShownAs(wanted, trimSpace(shownTitle(session)).normalize()));
  return found.map(({ sessionId }) => sessionId);
}

/** Whether a terminal shows a title so: whole, or cut with a mark at its end. */
function isShownAs(wanted: string, shown: string): boolean {
  const beginning = wanted.replace(CUT, '');
  return shown === wanted || (beginning !== wanted && beginning !== '' && shown.startsWith(beginning));
}

function idsOf({ sessions, unreadable }: KnownSessions): readonly string[] {
  return [...sessions, ...unreadable].map(({ sessionId }) => sessionId);
}
