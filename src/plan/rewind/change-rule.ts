import type { FileState } from '../../model/event.js';
import { formatInstant } from '../../model/time.js';
import { hasContent, type PresentState } from './file-change.js';
import type { KnownState, LogWork, NamedCheckpoint, ShellCall, Span, Told } from './session-work.js';

/** Whose work the present content of a file is, and why. */
export interface ChangeVerdict {
  readonly by: 'session' | 'other';
  /** The row of the rule that decided. */
  readonly row: 1 | 2 | 3 | 4 | 5;
  /** For people: what is known of the change, or what speaks for somebody else's; both times where times decide. */
  readonly reason: string;
}

/** What is known of a file from all logs that tell of the session's work. */
interface FileEvidence {
  /** The session whose files are asked about; the reason names another one. */
  readonly sessionId: string;
  readonly foreign: readonly KnownState[];
  readonly known: readonly KnownState[];
  /** The last checkpoint that names it. */
  readonly last: NamedCheckpoint | undefined;
  /** Calls that may have changed it, at or after that checkpoint. */
  readonly shells: readonly ShellCall[];
  readonly rewinds: readonly (Told & { readonly atMs: number })[];
}

const BEFORE_REWIND_MS = 10_000;
const AFTER_REWIND_MS = 2_000;

/** Puts together what logs tell of one file. */
export function evidenceOf(sessionId: string, logs: readonly LogWork[], path: string): FileEvidence {
  const last = lastOf(logs.flatMap((log) => log.last.get(path) ?? []));
  const lastLog = logs.find((log) => log.last.get(path) === last);
  const shells = logs.flatMap((log) =>
    log.shells
      .filter(({ changed }) => changed?.has(path) !== false)
      .filter((call) => isSince(call, last, log === lastLog)),
  );
  return {
    sessionId,
    foreign: logs.flatMap((log) => log.foreign.get(path) ?? []),
    known: logs.flatMap((log) => log.known.get(path) ?? []),
    last,
    shells,
    rewinds: logs.flatMap(({ rewinds }) => rewinds),
  };
}

/**
 * Tells whether the rule has to be asked: something is there whose content would go. Another mode alone loses nothing.
 */
export function mayLoseContent(
  present: PresentState,
  wanted: FileState,
): present is PresentState & { readonly kind: 'file' | 'link' } {
  return (present.kind === 'file' || present.kind === 'link') && !hasContent(present, wanted);
}

/**
 * Tells whether somebody else changed a file that would be overwritten or deleted: the first row that fits (FORMAT.md,
 * 6).
 */
export function whoChanged(
  present: PresentState & { readonly kind: 'file' | 'link' },
  evidence: FileEvidence,
): ChangeVerdict {
  return (
    knownVerdict(present, evidence) ??
    callVerdict(present.mtimeMs, evidence) ??
    rewindVerdict(present.mtimeMs, evidence) ??
    contentVerdict(present, evidence) ??
    windowVerdict(present.mtimeMs, evidence)
  );
}

/**
 * The same of a file that a rewind of ours changed after the last checkpoint that names it: what it left is known, so
 * only a known content, or one that changed while a shell call ran, is the session's own.
 */
export function whoChangedSinceRewind(
  present: PresentState & { readonly kind: 'file' | 'link' },
  evidence: FileEvidence,
): ChangeVerdict {
  const edited = `edited outside the session at ${timeText(present.mtimeMs)}, after a rewind`;
  return knownVerdict(present, evidence) ?? callVerdict(present.mtimeMs, evidence) ?? verdict('other', 5, edited);
}

/** Decides by rows 1 and 2, for which nothing but the content counts; undefined where they do not fit. */
export function knownVerdict(
  present: PresentState,
  { foreign, known, sessionId }: FileEvidence,
): ChangeVerdict | undefined {
  const isPresent = ({ state }: KnownState): boolean => hasContent(present, state);
  if (foreign.some(isPresent)) {
    return verdict('other', 1, 'holds what somebody else wrote and an earlier rewind replaced by force');
  }
  const found = known.find(isPresent);
  if (found === undefined) return undefined;
  switch (found.by) {
    case 'call':
      return verdict('session', 2, `the session's own write of ${eventText(found, sessionId)}`);
    case 'checkpoint':
      return verdict(
        'session',
        2,
        `the session's own content, kept by the checkpoint of ${eventText(found, sessionId)}`,
      );
    case 'rewind':
      return verdict('session', 2, 'as an earlier rewind left or kept it');
    default:
      return found.by satisfies never;
  }
}

function callVerdict(atMs: number, { shells, sessionId }: FileEvidence): ChangeVerdict | undefined {
  const call = shells.findLast(({ window }) => isIn(window, atMs));
  return (
    call && verdict('session', 3, `changed while the session's own ${call.tool} of ${eventText(call, sessionId)} ran`)
  );
}

function rewindVerdict(atMs: number, { rewinds, sessionId }: FileEvidence): ChangeVerdict | undefined {
  const rewind = rewinds.find(({ atMs: end }) =>
    isIn({ fromMs: end - BEFORE_REWIND_MS, toMs: end + AFTER_REWIND_MS }, atMs),
  );
  return rewind && verdict('session', 3, `changed by the rewind of ${eventText(rewind, sessionId)}`);
}

// What a denied call left is what was there, and what a write left is known: time has no say.
function contentVerdict(
  present: PresentState & { readonly mtimeMs: number },
  { last, sessionId }: FileEvidence,
): ChangeVerdict | undefined {
  const left = last === undefined ? undefined : stateLeftBy(last);
  if (last?.call === undefined || left === undefined) return undefined;
  const { outcome, tool, sequence } = last.call;
  const call = `${tool} of ${eventText({ ...last, sequence }, sessionId)}`;
  if (hasContent(present, left)) return verdict('session', 4, `as ${call} left it`);
  const edited = `edited outside the session at ${timeText(present.mtimeMs)}`;
  return verdict('other', 4, `${edited}: ${outcome === 'denied' ? `${call} was denied` : `not what ${call} wrote`}`);
}

function stateLeftBy({ before, call }: NamedCheckpoint): FileState | undefined {
  if (call?.outcome === 'denied') return before;
  if (call?.outcome !== 'ok' || call.content === undefined) return undefined;
  return { kind: 'stored', blob: call.content, hash: call.content, bytes: 0, mode: 0 };
}

function windowVerdict(atMs: number, { last, sessionId }: FileEvidence): ChangeVerdict {
  const edited = `edited outside the session at ${timeText(atMs)}`;
  if (last === undefined) return verdict('other', 5, `${edited}: the session did nothing to it`);
  const { window, call, tool } = last;
  const event = eventText({ ...last, sequence: call?.sequence ?? last.sequence }, sessionId);
  const work = `${tool === '' ? 'work' : tool} of ${event}`;
  if (isIn(window, atMs)) return verdict('session', 5, `the session's own ${work}`);
  if (atMs < window.fromMs)
    return verdict('other', 5, `${edited}, before the turn with ${work} began at ${timeText(window.fromMs)}`);
  return verdict('other', 5, `${edited}, after ${work} ended by ${timeText(window.toMs)}`);
}

/** Tells whether a moment lies in a span. */
export function isIn({ fromMs, toMs }: Span, atMs: number): boolean {
  return atMs >= fromMs && atMs <= toMs;
}

// Logs of one session have times and numbers in common, and Zero may have used the numbers again: the times come first.
function lastOf(checkpoints: readonly NamedCheckpoint[]): NamedCheckpoint | undefined {
  const order = (a: NamedCheckpoint, b: NamedCheckpoint): number =>
    compare(sortable(a.atMs), sortable(b.atMs)) || compare(a.sequence, b.sequence);
  return checkpoints.toSorted(order).at(-1);
}

// A call that was open at the checkpoint may have changed the file after it.
function isSince(call: ShellCall, last: NamedCheckpoint | undefined, isSameLog: boolean): boolean {
  if (last === undefined) return true;
  const isSameSession = call.sessionId === last.sessionId;
  if (isSameLog && isSameSession) return call.resultSequence > last.sequence;
  if (call.resultMs === last.atMs && isSameSession) return call.resultSequence > last.sequence;
  return call.resultMs >= last.atMs;
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortable(ms: number): number {
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

function verdict(by: ChangeVerdict['by'], row: ChangeVerdict['row'], reason: string): ChangeVerdict {
  return { by, row, reason };
}

function eventText({ sequence, sessionId }: Told, asked: string): string {
  return sessionId === asked ? `event ${sequence}` : `event ${sequence} of session ${sessionId}`;
}

function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : formatInstant(date);
}
