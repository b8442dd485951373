import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { aSession } from './session-builder.js';
import { laySession } from './temp-store.js';

// The built program: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const HOOK = new URL('signal-at-call.mjs', import.meta.url).href;

export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal that comes just before one call of the program. */
export interface SignalAt {
  /** From 1. */
  readonly nth: number;
  readonly signal: (typeof SIGNALS)[number];
  /** Whether the children get it as well, as from a terminal. */
  readonly toGroup?: boolean;
}

/** A command that writes, and how to tell that what it printed is what it wrote. */
export interface WritingCommand {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** Gives the place of the call by which it commits, of those that it makes. */
  readonly commit: (calls: readonly string[]) => number;
  /** Gives what its answer says it wrote, read from the store: it must be there. */
  readonly written: (answer: Answer, root: string) => unknown;
}

/** What a command prints under --json, as far as it says what was written. */
interface Answer {
  readonly events: readonly { readonly id: string }[];
  readonly event: { readonly id: string };
  readonly session: { readonly sessionId: string };
  readonly report: { readonly rewindId: string };
}

const log = (root: string, id: string) => readFileSync(join(root, id, 'events.jsonl'), 'utf8');

const syncOfLog = (calls: readonly string[]) =>
  calls.findIndex((call, at) => call.startsWith('fsync') && calls[at - 1]?.startsWith('write'));
const renameTo = (end: string) => (calls: readonly string[]) =>
  calls.findIndex((call) => call.startsWith('rename') && call.endsWith(end));

export const WRITING_COMMANDS: Readonly<Record<string, WritingCommand>> = {
  append: {
    argv: ['append', 's', '--json'],
    stdin: '{"type":"message","payload":{"role":"user","content":"once"}}\n',
    commit: syncOfLog,
    written: ({ events }, root) => log(root, 's').includes(`"id":"${events[0]?.id}"`),
  },
  rewind: {
    argv: ['rewind', 's', '--to', '2', '--force', '--json'],
    commit: renameTo('/s/events.jsonl'),
    written: ({ report }, root) => log(root, 's').includes(report.rewindId),
  },
  fork: {
    argv: ['fork', 's', '--id', 'f', '--json'],
    commit: renameTo('/f'),
    written: ({ session }, root) => log(root, session.sessionId).includes('session_fork'),
  },
  compact: {
    argv: ['compact', 's', '--summary', 'all of it', '--json'],
    commit: syncOfLog,
    written: ({ event }, root) => log(root, 's').includes(`"id":"${event.id}"`),
  },
};

/** A store with one session that has worked on a file, and the folder that it is in. */
export interface SignalPlace {
  readonly folder: string;
  readonly root: string;
}

export function signalPlace(): SignalPlace {
  const folder = mkdtempSync(join(tmpdir(), 'zs-sig-'));
  const root = join(folder, 'store');
  const workspace = join(folder, 'work');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'made.txt'), 'made later\n');
  writeFileSync(join(workspace, 'kept.txt'), 'neighbour\n');
  const made = { tool: 'write_file', files: [{ path: 'made.txt', absent: true }] };
  const session = aSession('s').withMessages(8).withMetadata({ cwd: workspace });
  laySession(root, session.withEvent({ type: 'session_checkpoint', payload: JSON.stringify(made) }).withMessages(2));
  return { folder, root };
}

/** Gives the calls that a command makes when no signal comes, and the number, from 1, of the one that commits. */
export async function callsOf(
  command: WritingCommand,
): Promise<{ readonly calls: readonly string[]; readonly commit: number }> {
  const place = signalPlace();
  try {
    const { code, calls } = await runSignalled(place, command);
    expect(code).toBe(0);
    const commit = command.commit(calls);
    expect(commit).toBeGreaterThan(0);
    return { calls, commit: commit + 1 };
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

/** How a run ended. */
export interface SignalledRun {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** The calls that it made. */
  readonly calls: readonly string[];
}

/** Runs a command of the built program in a process of its own, with a signal on its way. */
export async function runSignalled(place: SignalPlace, command: WritingCommand, at?: SignalAt): Promise<SignalledRun> {
  const noted = join(place.folder, 'calls');
  const child = spawn(process.execPath, ['--import', HOOK, BIN, '--root', place.root, ...command.argv], {
    cwd: place.folder,
    detached: true, // a process group of its own, as a shell with job control makes it
    env: {
      PATH: process.env.PATH,
      HOME: join(place.folder, 'home'),
      CALLS_IN: place.root,
      CALLS_NOTED: noted,
      ...(at === undefined ? {} : { SIGNAL_AT: `${at.nth}:${at.signal}${at.toGroup === true ? ':group' : ''}` }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(command.stdin ?? '');
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part) => {
    out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part) => {
    err += part;
  });
  const [code, killedBy] = await once(child, 'close');
  const calls = existsSync(noted) ? readFileSync(noted, 'utf8').trimEnd().split('\n') : [];
  return { code, killedBy, out, err, calls };
}

/**
 * Runs a command once, with a signal just before one of its calls, and checks that what was written is printed, or that
 * nothing was written; and that no lock, no child and no temporary file is left.
 * @returns Whether it wrote.
 */
export async function expectWholeOrNothing(command: WritingCommand, at: SignalAt): Promise<boolean> {
  const place = signalPlace();
  try {
    const before = content(place.folder);
    const { code, killedBy, out, err } = await runSignalled(place, command, at);
    rmSync(join(place.folder, 'calls'), { force: true });
    const about = `${JSON.stringify(at)}: ${code ?? killedBy}, ${out}${err}`;
    expect(leftovers(place.root), about).toEqual([]);
    expect(processesIn(place.folder), about).toEqual([]);
    if (code === 0) {
      expect(command.written(JSON.parse(out), place.root), about).toBe(true);
      return true;
    }
    expect({ code, out, err }, about).toEqual({ code: 128 + constants.signals[at.signal], out: '', err: '' });
    expect(content(place.folder), about).toEqual(before);
    return false;
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

/** Gives the content of every file but the lock, which Zero makes as well. */
function content(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => !path.endsWith('.lock'));
  return new Map(paths.sort().map((path) => [path, readFileSync(path, 'utf8')]));
}

/** Names what is left of locks and temporary files. */
export function leftovers(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.zs-(?:tmp|new)-|^\.zs-locks\//.test(name));
}

/** Gives the processes that have a file of a folder open, or work in it. */
export function processesIn(folder: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => placesOf(pid).some((path) => path.startsWith(folder)));
}

function placesOf(pid: string): readonly string[] {
  try {
    const descriptors = readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
    return [`/proc/${pid}/cwd`, ...descriptors].flatMap((path) => {
      try {
        return [readlinkSync(path)];
      } catch {
        return [];
      }
    });
  } catch {
    return []; // gone meanwhile
  }
}
