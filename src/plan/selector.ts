import { AmbiguousNameError, SessionNotFoundError, UsageError } from '../errors.js';
import { trimSpace } from '../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../model/metadata.js';

/** The sessions that a name is looked for in. */
export interface SelectableSessions {
  /** Readable ones, in the order of `list`: newest activity first. */
  readonly sessions: readonly SessionMetadata[];
  /** Ids of damaged ones: they can be named by id. */
  readonly unreadable: readonly string[];
}

const NTH_BEFORE_LATEST = /^@\{-(\d{1,9})\}$/;
const RELATIVE = /^(parent|root):/;

/**
 * Gives the id of the session that a name means: the first rule that finds anything decides.
 * @throws UsageError (`USAGE`) for a blank name.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`) with the candidates that are near it.
 * @throws AmbiguousNameError (`AMBIGUOUS_NAME`) when a rule finds more than one.
 * @see CLI.md, "Sessions are named"
 */
export function resolveSelector(text: string, among: SelectableSessions): string {
  const name = trimSpace(text);
  if (name === '')
    throw new UsageError('A session needs a name', 'Give an id, a beginning of one, a title, or latest.');
  const found = find(name, among);
  if (found.length === 1) return found[0] as string;
  if (found.length > 1) throw new AmbiguousNameError(name, found);
  throw new SessionNotFoundError(name, nearby(name, among));
}

function find(name: string, among: SelectableSessions): readonly string[] {
  return (
    firstThatFinds([() => byLatest(name, among), () => byRelation(name, among), () => byPrefixedForm(name, among)]) ??
    firstThatFinds([() => byId(name, among), () => byBeginning(name, among), () => byTitle(name, among)]) ??
    []
  );
}

function firstThatFinds(rules: readonly (() => readonly string[])[]): readonly string[] | undefined {
  for (const rule of rules) {
    const found = rule();
    if (found.length > 0) return found;
  }
  return undefined;
}

function byLatest(name: string, { sessions }: SelectableSessions): readonly string[] {
  const nth = name === 'latest' ? '0' : NTH_BEFORE_LATEST.exec(name)?.[1];
  if (nth === undefined) return [];
  const session = sessions.filter(({ sessionKind }) => isResumableKind(sessionKind))[Number(nth)];
  return session === undefined ? [] : [session.sessionId];
}

// A loop over the words in front: `parent:parent:…` may be as long as a command line.
function byRelation(name: string, among: SelectableSessions): readonly string[] {
  const steps: string[] = [];
  let rest = name;
  for (let match = RELATIVE.exec(rest); match !== null; match = RELATIVE.exec(rest)) {
    steps.unshift(match[1] as string);
    rest = trimSpace(rest.slice(match[0].length));
  }
  if (steps.length === 0 || rest === '') return [];
  const start = find(rest, among);
  if (start.length !== 1) return start;
  const byName = new Map(among.sessions.map((session) => [session.sessionId, session]));
  let id = start[0] as string;
  for (const step of steps) {
    const next = step === 'parent' ? byName.get(id)?.parentSessionId : rootOf(id, byName);
    if (next === undefined) return [];
    id = next;
  }
  return byId(id, among);
}

function rootOf(id: string, byName: ReadonlyMap<string, SessionMetadata>): string | undefined {
  const session = byName.get(id);
  if (session === undefined) return undefined;
  return session.rootSessionId ?? session.sessionId;
}

function byPrefixedForm(name: string, among: SelectableSessions): readonly string[] {
  if (name.startsWith('id:')) return byId(trimSpace(name.slice('id:'.length)), among);
  if (name.startsWith('title:')) return byTitle(trimSpace(name.slice('title:'.length)), among);
  return [];
}

function byId(name: string, among: SelectableSessions): readonly string[] {
  return allIds(among).filter((id) => id === name);
}

function byBeginning(name: string, among: SelectableSessions): readonly string[] {
  return allIds(among).filter((id) => id.startsWith(name));
}

function byTitle(name: string, { sessions }: SelectableSessions): readonly string[] {
  if (name === '') return [];
  return sessions
    .filter(({ title }) => title !== undefined && trimSpace(title) === name)
    .map(({ sessionId }) => sessionId);
}

function allIds({ sessions, unreadable }: SelectableSessions): readonly string[] {
  return [...sessions.map(({ sessionId }) => sessionId), ...unreadable];
}

/** Ids that somebody who mistyped may have meant: the same in another case, or with the text in id or title. */
function nearby(name: string, among: SelectableSessions): readonly string[] {
  const wanted = name.replace(/^(?:(?:parent|root):)*(?:id:|title:)?/, '').toLowerCase();
  if (wanted === '') return [];
  const titles = new Map(among.sessions.map(({ sessionId, title }) => [sessionId, (title ?? '').toLowerCase()]));
  const close = allIds(among).filter((id) => {
    const lower = id.toLowerCase();
    return lower.includes(wanted) || (titles.get(id) ?? '').includes(wanted) || sharedBeginning(lower, wanted) >= 4;
  });
  return close.slice(0, MOST_CANDIDATES);
}

const MOST_CANDIDATES = 5;

function sharedBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}
