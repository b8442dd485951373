import { ZeroSessionsError } from '../errors.js';
import type { StoredEvent } from '../model/event.js';
import { viewEvent } from '../model/event-view.js';
import type { BlobHash } from '../model/ids.js';
import { isRecord } from '../model/json.js';
import { decodeIntent, type RewindIntent } from '../model/rewind-record.js';
import { parseInstant } from '../model/time.js';
import { hasContent, type PresentState } from '../plan/file-change.js';
import { type TouchedFile, touchedFiles } from '../plan/rewind.js';
import { settledTimes, type WorkEvent } from '../plan/tool-work.js';
import { hashText } from './blob-store.js';
import type { EventLog } from './event-log.js';

// A clock of whole seconds, and a tool that is not done with its file at the moment in which it says so.
const SETTLING_MS = 2000;

/**
 * What the logs of a session tell of its own work on files: it tells whether somebody else changed one since.
 *
 * A log is read only when a file's content is not otherwise known: first the present one; then, since a rewind takes
 * evidence out of it and gives files a new time, those that were kept, the newest first.
 * @see FORMAT.md, 6, "Has a file been changed by someone else?"; FAULTS.md, 17
 */
export class FileWork {
  readonly #logs: readonly EventLog[];
  readonly #target: number;
  readonly #resolve: (path: string, sequence: number) => string;
  readonly #read: LogWork[] = [];

  /**
   * @param logs - The present one, then kept ones, newest first.
   * @param target - Checkpoints after it are what a rewind undoes.
   * @param resolve - Gives the one name of a file.
   */
  constructor(logs: readonly EventLog[], target: number, resolve: (path: string, sequence: number) => string) {
    this.#logs = logs;
    this.#target = target;
    this.#resolve = resolve;
  }

  /** Tells whether what is at a path now is somebody else's work. */
  isForeign(path: string, present: PresentState): boolean {
    if (present.kind !== 'file' && present.kind !== 'link') return false;
    const holds = (work: LogWork, at: number): boolean => accountsFor(work, path, present, at === 0);
    if (holds(this.#workOf(0), 0)) return false;
    const kept = this.#logs.slice(1).map((_, at) => this.#workOf(at + 1));
    if (kept.some((work) => wasForeign(work, path, present))) return true;
    return !kept.some((work, at) => holds(work, at + 1));
  }

  /** Tells whether what is at a path now shows that the session worked there: by its content, or by when it was written. */
  isTrace(path: string, present: PresentState): boolean {
    if (present.kind !== 'file' && present.kind !== 'link') return false;
    return this.#logs.some((_, at) => {
      const work = this.#workOf(at);
      return holdsContent(work, path, present) || wasWrittenMeanwhile(work, path, present.mtimeMs);
    });
  }

  #workOf(at: number): LogWork {
    const known = this.#read[at];
    if (known !== undefined) return known;
    const work = at === 0 ? this.#readLog(at) : this.#readKeptLog(at);
    this.#read[at] = work;
    return work;
  }

  // A kept log that cannot be read tells nothing; the present one has to be whole.
  #readKeptLog(at: number): LogWork {
    try {
      return this.#readLog(at);
    } catch (error) {
      if (error instanceof ZeroSessionsError)
        return { files: new Map(), begun: new Map(), settled: new Map(), written: new Set() };
      throw error;
    }
  }

  #readLog(at: number): LogWork {
    const log = this.#logs[at] as EventLog;
    const written = new Set<BlobHash>();
    const checkpoints: StoredEvent[] = [];
    let intent: RewindIntent | undefined;
    const target = this.#target;
    const settled = settledTimes(
      (function* () {
        for (const event of log.events()) {
          const announced = decodeIntent(event, log.sessionId);
          if (announced !== undefined) {
            intent = announced; // no work of a tool, and nobody's successor
            continue;
          }
          if (event.type === 'session_checkpoint' && event.sequence > target) checkpoints.push(event);
          yield workEvent(event, written);
        }
      })(),
    );
    const files = touchedFiles(checkpoints, this.#resolve);
    const begun = new Map(checkpoints.map(({ sequence, createdAt }) => [sequence, createdAt]));
    return { files: new Map(files.map((file) => [file.resolved, file])), begun, settled, written, intent };
  }
}

interface LogWork {
  readonly files: ReadonlyMap<string, TouchedFile>;
  /** When each checkpoint was made, by its sequence. */
  readonly begun: ReadonlyMap<number, string>;
  /** When the work of each checkpoint was done. */
  readonly settled: ReadonlyMap<number, string>;
  /** What tool calls had to write. */
  readonly written: ReadonlySet<BlobHash>;
  /** The rewind that ended a kept log. */
  readonly intent?: RewindIntent | undefined;
}

// What was overwritten by force and brought back by an undo is still somebody else's.
function wasForeign({ intent }: LogWork, path: string, present: PresentState): boolean {
  return (
    intent?.files.some((file) => file.path === path && file.isForeign === true && hasContent(present, file.before)) ??
    false
  );
}

function accountsFor(
  work: LogWork,
  path: string,
  present: PresentState & { readonly kind: 'file' | 'link' },
  mayBeAtWork: boolean,
): boolean {
  if (holdsContent(work, path, present)) return true;
  const file = work.files.get(path);
  if (file === undefined) return false;
  const time = work.settled.get(file.lastNamedAt);
  if (time === undefined && mayBeAtWork) return true;
  const settledMs = parseInstant(time ?? '') ?? Number.NEGATIVE_INFINITY;
  return present.mtimeMs <= settledMs + SETTLING_MS;
}

function holdsContent(
  { files, written, intent }: LogWork,
  path: string,
  present: PresentState & { readonly kind: 'file' | 'link' },
): boolean {
  const ours = intent?.files.find((file) => file.path === path);
  if (ours !== undefined && (hasContent(present, ours.to) || hasContent(present, ours.before))) return true;
  const file = files.get(path);
  if (file === undefined) return false;
  if ([file.wanted, ...file.later].some((state) => hasContent(present, state))) return true;
  return present.kind === 'file' && written.has(present.hash);
}

// While the last tool that named it was at work: a project that moved keeps such times, another one does not have them.
function wasWrittenMeanwhile({ files, begun, settled }: LogWork, path: string, mtimeMs: number): boolean {
  const last = files.get(path)?.lastNamedAt;
  const from = parseInstant((last === undefined ? undefined : begun.get(last)) ?? '');
  const to = parseInstant((last === undefined ? undefined : settled.get(last)) ?? '');
  return from !== undefined && to !== undefined && mtimeMs >= from - SETTLING_MS && mtimeMs <= to + SETTLING_MS;
}

function workEvent(event: StoredEvent, written: Set<BlobHash>): WorkEvent {
  const { sequence, createdAt, type } = event;
  const common = { sequence, createdAt };
  if (type !== 'tool_call' && type !== 'tool_result' && type !== 'session_checkpoint')
    return { ...common, kind: 'other' };
  const view = viewEvent(event);
  if (view.type === 'checkpoint') {
    return { ...common, kind: 'checkpoint', tool: view.tool, paths: view.files.map(({ path }) => path) };
  }
  if (view.type === 'tool_result') return { ...common, kind: 'result', callId: view.callId, name: view.name };
  if (view.type !== 'tool_call') return { ...common, kind: 'other' };
  const given = argumentsOf(view.arguments);
  if (typeof given.content === 'string') written.add(hashText(given.content));
  const mentions = Object.values(given).filter((value) => typeof value === 'string' && value.length <= 4096);
  return { ...common, kind: 'call', callId: view.callId, name: view.name, mentions: mentions as string[] };
}

function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
