import {
  type CheckpointFile,
  type EventView,
  type FileState,
  OWN_TOOL_PREFIX,
  type StoredEvent,
} from '../../model/event.js';
import { callIdOf, payloadFieldsOf, viewEvent } from '../../model/event-view.js';
import type { BlobHash } from '../../model/ids.js';
import { isRecord } from '../../model/json.js';
import { decodeIntent, type IntendedChange, isRewindIntent } from '../../model/rewind-record.js';
import { parseInstant } from '../../model/time.js';
import { type PairedCall, type PairingFact, pairCalls, pairingFactOf } from '../call-pairing.js';

/** A span of time in milliseconds since 1970; both ends belong to it. An end that is no number makes it empty. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Which event tells of something; the session is named where it is not the one that is asked about. */
export interface Told {
  readonly sequence: number;
  readonly sessionId: string;
}

/** A state that a file is known to have had, so that nothing is lost when it goes. */
export interface KnownState extends Told {
  readonly by: 'checkpoint' | 'rewind' | 'call';
  readonly state: FileState;
}

/** The call that a checkpoint was made for. */
interface CheckpointedCall {
  readonly sequence: number;
  readonly tool: string;
  readonly outcome: 'ok' | 'failed' | 'denied' | 'none';
  /** What a call of `write_file` had to write. */
  readonly content: BlobHash | undefined;
}

/** A checkpoint that names a file, and the work that it announced. */
export interface NamedCheckpoint extends Told {
  readonly atMs: number;
  readonly tool: string;
  readonly before: FileState;
  readonly call: CheckpointedCall | undefined;
  readonly window: Span;
}

/** A call that may have changed any file, or, where `changed` is given, these files. It has a result. */
export interface ShellCall extends Told {
  readonly tool: string;
  readonly window: Span;
  readonly resultSequence: number;
  readonly resultMs: number;
  readonly changed: ReadonlySet<string> | undefined;
}

/** What one log tells of a session's work on files. Paths are resolved in the workspace that is asked about. */
export interface LogWork {
  readonly sessionId: string;
  /** The last checkpoint of each file, ours left out. */
  readonly last: ReadonlyMap<string, NamedCheckpoint>;
  /** The states of each file that checkpoints, rewinds and successful writes tell of. */
  readonly known: ReadonlyMap<string, readonly KnownState[]>;
  /** The states of each file that were somebody else's when a rewind of ours replaced them by force. */
  readonly foreign: ReadonlyMap<string, readonly KnownState[]>;
  readonly shells: readonly ShellCall[];
  /** When a rewind, Zero's or ours, ended. */
  readonly rewinds: readonly (Told & { readonly atMs: number })[];
  /** Every call of a shell, with a result or without. */
  readonly shellCalls: readonly number[];
  /** Files that results name as changed, as they stand there; `path` is undefined outside of the workspace. */
  readonly changedFiles: readonly { readonly sequence: number; readonly name: string; readonly path?: string }[];
  /** The sessions that were started, by the first event that tells of each. */
  readonly children: ReadonlyMap<string, number>;
}

/** How a log is read. */
export interface WorkReading {
  readonly sessionId: string;
  /** What a checkpoint after this sequence found is kept, or in the log. */
  readonly after: number;
  /** Gives the one name of a file that the checkpoint with this sequence names; undefined outside of the workspace. */
  readonly resolve: (path: string, sequence: number) => string | undefined;
  /** Gives the same for a path in the arguments or the result of a call. */
  readonly locate: (path: string) => string | undefined;
  readonly hashText: (text: string) => BlobHash;
  /** Whether a live process has the session open: what has no result may still be at work. */
  readonly isOpen: boolean;
}

/** The tools that can change any file, and say of none which. */
const SHELL_TOOLS: ReadonlySet<string> = new Set(['bash', 'exec_command', 'write_stdin']);
/** The tool whose arguments have the whole content of a file. */
const WRITE_TOOL = 'write_file';

const PATH_ARGUMENTS = ['path', 'file', 'file_path', 'filename'] as const;
const PATCH_ARGUMENTS = ['patch', 'diff'] as const;
const DENIED_OUTPUT = 'Error: Permission denied for';

// A clock of whole seconds, and a tool that is not done with its file at the moment in which it says so.
const SETTLING_MS = 2_000;
const UNANSWERED_MS = 10 * 60_000;
const BY_HAND_MS = 24 * 60 * 60_000;

/** Reads what a log, oldest event first, tells of the session's work on files (FORMAT.md, 6). */
export function readWork(events: Iterable<StoredEvent>, reading: WorkReading): LogWork {
  const reader = new WorkReader(reading);
  for (const event of events) reader.take(event);
  return reader.finish();
}

interface CallTold {
  readonly sequence: number;
  /** Texts under the names that arguments have for paths. */
  readonly paths: readonly string[];
  readonly patches: readonly string[];
  readonly content: BlobHash | undefined;
}

interface ResultTold {
  readonly sequence: number;
  readonly atMs: number;
  readonly status: string;
  readonly isDenied: boolean;
  readonly changed: readonly string[];
}

interface CheckpointTold {
  readonly at: number;
  readonly sequence: number;
  readonly atMs: number;
  readonly tool: string;
  readonly files: readonly CheckpointFile[];
}

/** What is told from one message of the user's to the next: calls and results belong together within it. */
class Turn {
  readonly fromMs: number;
  lastMs = Number.NaN;
  readonly facts: PairingFact[] = [];
  readonly calls = new Map<number, CallTold>();
  readonly results = new Map<number, ResultTold>();
  readonly denials: { readonly at: number; readonly callId: string; readonly tool: string }[] = [];
  readonly checkpoints: CheckpointTold[] = [];

  constructor(fromMs: number) {
    this.fromMs = fromMs;
  }
}

class WorkReader {
  readonly #reading: WorkReading;
  readonly #last = new Map<string, NamedCheckpoint & { readonly at: number }>();
  readonly #known = new Map<string, KnownState[]>();
  readonly #foreign = new Map<string, KnownState[]>();
  readonly #shells: (ShellCall & { readonly at: number })[] = [];
  readonly #rewinds: (Told & { readonly atMs: number })[] = [];
  readonly #shellCalls: number[] = [];
  readonly #changedFiles: { sequence: number; name: string; path?: string }[] = [];
  readonly #children = new Map<string, number>();
  #turn = new Turn(Number.NEGATIVE_INFINITY);
  #count = 0;
  /** Where a fork's own events begin. */
  #forkedAt = 0;

  constructor(reading: WorkReading) {
    this.#reading = reading;
  }

  take(event: StoredEvent): void {
    const at = this.#count;
    this.#count += 1;
    if (isRewindIntent(event)) {
      this.#takeIntent(event);
      return;
    }
    const view = viewEvent(event);
    const fact = pairingFactOf(view, at);
    const atMs = parseInstant(event.createdAt) ?? Number.NaN;
    if (fact?.kind === 'turn') {
      this.#settle();
      this.#turn = new Turn(atMs - SETTLING_MS);
    } else if (fact !== undefined) {
      this.#turn.facts.push(fact);
    }
    if (event.type === 'session_rewind') this.#rewinds.push({ ...this.#told(event), atMs });
    else this.#takeWork(event, view, at, atMs);
  }

  finish(): LogWork {
    this.#settle();
    // The time of what a fork copied is that of the fork: when it was done nobody knows.
    const dated = <Item extends { readonly at: number; readonly window: Span }>(item: Item): Item =>
      item.at < this.#forkedAt ? { ...item, window: { ...item.window, fromMs: Number.NEGATIVE_INFINITY } } : item;
    return {
      sessionId: this.#reading.sessionId,
      last: new Map([...this.#last].map(([path, checkpoint]) => [path, dated(checkpoint)])),
      known: this.#known,
      foreign: this.#foreign,
      shells: this.#shells.map(dated),
      rewinds: this.#rewinds,
      shellCalls: this.#shellCalls,
      changedFiles: this.#changedFiles,
      children: this.#children,
    };
  }

  #told({ sequence }: StoredEvent): Told {
    return { sequence, sessionId: this.#reading.sessionId };
  }

  #takeIntent(event: StoredEvent): void {
    const intent = decodeIntent(event, this.#reading.sessionId);
    for (const file of intent?.files ?? []) this.#takeIntended(file, this.#told(event));
  }

  #takeIntended({ path, before, to, isForeign }: IntendedChange, told: Told): void {
    if (isForeign === true) add(this.#foreign, path, { ...told, by: 'rewind', state: before });
    else add(this.#known, path, { ...told, by: 'rewind', state: before });
    add(this.#known, path, { ...told, by: 'rewind', state: to });
  }

  #takeWork(event: StoredEvent, view: EventView, at: number, atMs: number): void {
    const { sequence } = event;
    switch (view.type) {
      case 'tool_call': {
        if (SHELL_TOOLS.has(view.name)) this.#shellCalls.push(sequence);
        this.#turn.calls.set(at, this.#readCall(sequence, view.name, view.arguments));
        break;
      }
      case 'tool_result': {
        const isDenied = view.output.startsWith(DENIED_OUTPUT) || (view.status === 'error' && deniesInMeta(event));
        const { status, changedFiles: changed } = view;
        this.#turn.results.set(at, { sequence, atMs, status, isDenied, changed });
        for (const name of changed) {
          const path = this.#reading.locate(name);
          this.#changedFiles.push({ sequence, name, ...(path === undefined ? {} : { path }) });
        }
        break;
      }
      case 'permission':
        if (view.action === 'deny')
          this.#turn.denials.push({ at, callId: callIdOf(payloadFieldsOf(event)), tool: view.tool });
        break;
      case 'checkpoint':
        this.#takeCheckpoint({ at, sequence, atMs, tool: view.tool, files: view.files });
        if (view.tool.startsWith(OWN_TOOL_PREFIX)) return; // no work of a tool
        break;
      case 'fork':
        this.#forkedAt = at;
        break;
      case 'child':
        if (view.parent === this.#reading.sessionId) this.#takeChild(view.child, sequence);
        break;
      default:
        if (event.type === 'specialist_start') this.#takeChild(childIdOf(event), sequence);
    }
    this.#turn.lastMs = atMs;
  }

  #takeChild(sessionId: string, sequence: number): void {
    if (sessionId !== '' && !this.#children.has(sessionId)) this.#children.set(sessionId, sequence);
  }

  #takeCheckpoint(checkpoint: CheckpointTold): void {
    const { sequence, files, tool } = checkpoint;
    if (sequence > this.#reading.after) {
      for (const { path, state } of files) {
        const resolved = this.#reading.resolve(path, sequence);
        if (resolved === undefined) continue;
        add(this.#known, resolved, { sequence, sessionId: this.#reading.sessionId, by: 'checkpoint', state });
      }
    }
    if (!tool.startsWith(OWN_TOOL_PREFIX)) this.#turn.checkpoints.push(checkpoint);
  }

  #readCall(sequence: number, name: string, text: string): CallTold {
    const given = argumentsOf(text);
    const texts = (names: readonly string[]): string[] =>
      names.map((each) => given[each]).filter((value): value is string => typeof value === 'string');
    const content = name === WRITE_TOOL && typeof given.content === 'string' ? given.content : undefined;
    return {
      sequence,
      paths: texts(PATH_ARGUMENTS),
      patches: texts(PATCH_ARGUMENTS),
      content: content === undefined ? undefined : this.#reading.hashText(content),
    };
  }

  #settle(): void {
    const turn = this.#turn;
    const { calls } = pairCalls(turn.facts);
    const denied = new Set(turn.denials.flatMap((denial) => deniedCall(denial, calls)?.at ?? []));
    const claimed = new Set<number>();
    for (const checkpoint of turn.checkpoints) {
      const call = callOf(checkpoint, calls, turn);
      if (call !== undefined) claimed.add(call.at);
      this.#settleCheckpoint(checkpoint, call, turn, denied);
    }
    for (const call of calls) this.#settleCall(call, turn, claimed.has(call.at));
  }

  #settleCheckpoint(
    { at, sequence, atMs, tool, files }: CheckpointTold,
    call: PairedCall | undefined,
    turn: Turn,
    denied: ReadonlySet<number>,
  ): void {
    const { sessionId, resolve } = this.#reading;
    const made = call === undefined ? undefined : checkpointedCall(call, turn, denied.has(call.at));
    const window = { fromMs: turn.fromMs, toMs: this.#endOf(atMs, call, turn) };
    for (const { path, state: before } of files) {
      const resolved = resolve(path, sequence);
      if (resolved === undefined) continue;
      this.#last.set(resolved, { at, sequence, sessionId, atMs, tool, before, call: made, window });
      const { outcome, content } = made ?? {};
      if (made !== undefined && outcome === 'ok' && content !== undefined) this.#takeWritten(resolved, content, made);
    }
  }

  #endOf(atMs: number, call: PairedCall | undefined, turn: Turn): number {
    const result = turn.results.get(call?.results.at(-1) ?? -1);
    if (result !== undefined) return result.atMs + SETTLING_MS;
    if (this.#reading.isOpen) return Number.POSITIVE_INFINITY;
    return call === undefined ? Math.max(atMs + BY_HAND_MS, turn.lastMs + SETTLING_MS) : atMs + UNANSWERED_MS;
  }

  #settleCall(call: PairedCall, turn: Turn, hasCheckpoint: boolean): void {
    const told = turn.calls.get(call.at);
    const result = turn.results.get(call.results.at(-1) ?? -1);
    if (told === undefined || result === undefined) return;
    const { sequence, content } = told;
    if (content !== undefined && result.status === 'ok') {
      for (const path of told.paths) {
        const resolved = this.#reading.locate(path);
        if (resolved !== undefined) this.#takeWritten(resolved, content, { sequence });
      }
    }
    const isShell = SHELL_TOOLS.has(call.name);
    if (!isShell && (hasCheckpoint || result.changed.length === 0)) return;
    const changed = new Set(result.changed.flatMap((name) => this.#reading.locate(name) ?? []));
    this.#shells.push({
      at: call.at,
      sequence,
      sessionId: this.#reading.sessionId,
      tool: call.name,
      window: { fromMs: turn.fromMs, toMs: result.atMs + SETTLING_MS },
      resultSequence: result.sequence,
      resultMs: result.atMs,
      changed: isShell ? undefined : changed,
    });
  }

  #takeWritten(path: string, hash: BlobHash, { sequence }: { readonly sequence: number }): void {
    const state: FileState = { kind: 'stored', blob: hash, hash, bytes: 0, mode: 0 };
    add(this.#known, path, { sequence, sessionId: this.#reading.sessionId, by: 'call', state });
  }
}

// A checkpoint names the tool and not the call: it is that of the nearest open call of the tool that names one of its paths.
function callOf({ at, tool, files }: CheckpointTold, calls: readonly PairedCall[], turn: Turn): PairedCall | undefined {
  const open = calls.filter((call) => call.at < at && call.name === tool && (call.results[0] ?? at) >= at);
  const names = ({ at: place }: PairedCall): boolean => {
    const { paths = [], patches = [] } = turn.calls.get(place) ?? {};
    return files.some(
      ({ path }) => paths.some((text) => endsWithPath(text, path)) || patches.some((text) => namesPath(text, path)),
    );
  };
  return open.findLast(names) ?? open.at(-1);
}

function checkpointedCall({ at, name, results }: PairedCall, turn: Turn, isDenied: boolean): CheckpointedCall {
  const told = turn.calls.get(at);
  const result = turn.results.get(results.at(-1) ?? -1);
  return {
    sequence: told?.sequence ?? 0,
    tool: name,
    outcome: outcomeOf(result, isDenied || result?.isDenied === true),
    content: told?.content,
  };
}

function outcomeOf(result: ResultTold | undefined, isDenied: boolean): CheckpointedCall['outcome'] {
  if (isDenied) return 'denied';
  if (result === undefined) return 'none';
  return result.status === 'ok' ? 'ok' : 'failed';
}

function deniedCall(
  { at, callId, tool }: { readonly at: number; readonly callId: string; readonly tool: string },
  calls: readonly PairedCall[],
): PairedCall | undefined {
  return calls.findLast((call) => {
    if (call.at > at || (call.results[0] ?? at) < at) return false;
    return callId === '' ? call.name === tool : call.callId === callId;
  });
}

function endsWithPath(text: string, path: string): boolean {
  const plain = text.replace(/^(?:\.\/+)+/, '');
  return plain === path || plain.endsWith(`/${path}`);
}

/** Tells whether a patch names a path: between spaces, quotes and ends of lines, perhaps in a folder such as `a/`. */
function namesPath(patch: string, path: string): boolean {
  for (let at = patch.indexOf(path); at >= 0; at = patch.indexOf(path, at + 1)) {
    if (isEdge(patch[at - 1], BEFORE_PATH) && isEdge(patch[at + path.length], AFTER_PATH)) return true;
    if (path === '') return false;
  }
  return false;
}

const BEFORE_PATH = new Set([' ', '\t', '\n', '"', "'", '/']);
const AFTER_PATH = new Set([' ', '\t', '\n', '\r', '"', "'"]);

function isEdge(character: string | undefined, edges: ReadonlySet<string>): boolean {
  return character === undefined || edges.has(character);
}

function add(states: Map<string, KnownState[]>, path: string, state: KnownState): void {
  const known = states.get(path);
  if (known === undefined) states.set(path, [state]);
  else known.push(state);
}

function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function deniesInMeta(event: StoredEvent): boolean {
  const { meta } = payloadFieldsOf(event);
  return isRecord(meta) && meta.permission_action === 'deny';
}

function childIdOf(event: StoredEvent): string {
  const { childSessionId } = payloadFieldsOf(event);
  return typeof childSessionId === 'string' ? childSessionId : '';
}
