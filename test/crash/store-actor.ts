import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What a process of store-actor.mjs does, again and again. */
export type ActorRole =
  | 'append'
  | 'one'
  | 'foreign'
  | 'foreignTool'
  | 'beside'
  | 'everywhere'
  | 'fork'
  | 'child'
  | 'rewind'
  | 'undo'
  | 'crossed'
  | 'various';

/** What an actor was told was done. */
export type Acknowledged =
  | { readonly session: string; readonly id: string; readonly content: string }
  | { readonly fork: string; readonly events: number }
  | { readonly child: string }
  | { readonly rewound: number }
  | { readonly undone: string }
  /** Contents of the messages that a rewind of a foreign program dropped for good. */
  | { readonly dropped: readonly string[] };

/** Where a process was when it was killed. */
export interface Hit {
  /** The call: `r` for a rewind, `u` for an undo, `e` for the editing of a tool …; `.` between two calls. */
  readonly letter: string;
  /** Changing or syncing calls that were begun under its lock; 0 while it waited or read. */
  readonly changes: number;
}

export interface StoreActor {
  /**
   * Waits for the next call with this letter, until it starts or until it has its lock, and then for a part of the time
   * that such a call takes from there to its end.
   */
  within(letter: string, from: 'start' | 'lock', part: number): Promise<void>;
  /** Kills it with SIGKILL. */
  kill(): Promise<Hit>;
  /** Waits until it has done its share. @throws Error when it failed. */
  done(): Promise<void>;
  /** Lets it end between two calls. @throws Error when it failed. */
  leave(): Promise<void>;
}

/** How long the calls of each role take here and now, from each sign to the end, milliseconds; learnt on the way. */
const lengths = new Map<string, number>();
const FIRST_GUESS_MS = 20;

/** Starts a process on a store and waits until it is at work. It runs the built library: build first. */
export async function startActor(
  role: ActorRole,
  {
    root,
    session,
    folder,
    name,
    count,
  }: { root: string; session: string; folder: string; name: string; count?: number },
): Promise<StoreActor> {
  const script = fileURLToPath(new URL('store-actor.mjs', import.meta.url));
  const state = join(folder, `${name}.state`);
  const args = [script, role, root, session, state, join(folder, `${name}.journal`)];
  const child = spawn(process.execPath, count === undefined ? args : [...args, String(count)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (piece) => {
    complaint += piece;
  });
  const gone = once(child, 'exit');
  const calls = listenToCalls(role, child.stdout);
  await Promise.race([calls.next('!'), gone]);
  const done = async (): Promise<void> => {
    const [code] = await gone;
    if (code !== 0) throw new Error(`${role} failed (${code}): ${complaint}`);
  };
  return {
    async within(letter, from, part) {
      const signs = from === 'start' ? letter : `${letter}/`;
      await Promise.race([calls.next(signs), gone]);
      await sleep(part * (lengths.get(role + signs) ?? FIRST_GUESS_MS));
    },
    async kill() {
      child.kill('SIGKILL');
      calls.cutShort();
      const [code] = await gone;
      if (code !== null) throw new Error(`${role} ended by itself (${code}): ${complaint}`);
      const [letter = '.', ...changes] = readFileSync(state, 'latin1');
      return { letter, changes: Number(changes.join('')) };
    },
    done,
    async leave() {
      child.stdin.end();
      await done();
    },
  };
}

interface FollowedCalls {
  /** Waits until the actor has told these signs of one call: `a` for its start, `a/` for its lock. */
  next(signs: string): Promise<void>;
  /** What is under way now does not come to its end. */
  cutShort(): void;
}

/** Follows what an actor tells of its calls, and learns how long they take. */
function listenToCalls(role: ActorRole, stdout: NodeJS.ReadableStream): FollowedCalls {
  const since = new Map<string, number>();
  let signs = '';
  let wanted: { readonly signs: string; readonly tell: () => void } | undefined;
  stdout.setEncoding('latin1');
  stdout.on('data', (told: string) => {
    for (const sign of told) {
      if (sign === '.') {
        for (const [before, at] of since) learn(role + before, performance.now() - at);
        since.clear();
        signs = '';
        continue;
      }
      signs = sign === '!' ? '' : signs + sign;
      since.set(signs, performance.now());
      if ((signs || '!') === wanted?.signs) wanted.tell();
    }
  });
  return {
    next: (signs) =>
      new Promise((tell) => {
        wanted = { signs, tell };
      }),
    cutShort() {
      for (const [before, at] of since) learnAtLeast(role + before, performance.now() - at);
    },
  };
}

function learn(key: string, lengthMs: number): void {
  lengths.set(key, 0.7 * (lengths.get(key) ?? lengthMs) + 0.3 * lengthMs);
}

// Otherwise a call that is always killed early would be thought to be short.
function learnAtLeast(key: string, lengthMs: number): void {
  if (lengthMs > (lengths.get(key) ?? FIRST_GUESS_MS)) lengths.set(key, 1.5 * lengthMs);
}

/** Reads what the actors with this name were told. */
export function journalOf(folder: string, name: string): readonly Acknowledged[] {
  const path = join(folder, `${name}.journal`);
  if (!existsSync(path)) return [];
  // A kill may have come while the last line was written.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Acknowledged);
}
