import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a process of store-actor.mjs does, again and again. */
export type ActorRole = 'append' | 'one' | 'foreign' | 'fork' | 'child' | 'rewind';

/** What an actor was told was done. */
export type Acknowledged =
  | { readonly session: string; readonly id: string; readonly content: string }
  | { readonly fork: string; readonly events: number }
  | { readonly child: string }
  | { readonly rewound: string };

export interface StoreActor {
  /** Kills it with SIGKILL and gives the letter of the call that it was in; `.` between two calls. */
  kill(): Promise<string>;
  /** Waits until it has done its share. @throws Error when it failed. */
  done(): Promise<void>;
}

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
  await Promise.race([once(child.stdout, 'data'), gone]);
  return {
    async kill() {
      child.kill('SIGKILL');
      const [code] = await gone;
      if (code !== null) throw new Error(`${role} ended by itself (${code}): ${complaint}`);
      return readFileSync(state, 'latin1').slice(0, 1) || '.';
    },
    async done() {
      const [code] = await gone;
      if (code !== 0) throw new Error(`${role} failed (${code}): ${complaint}`);
    },
  };
}

/** Reads what the actors with this name were told. */
export function journalOf(folder: string, name: string): readonly Acknowledged[] {
  const path = join(folder, `${name}.journal`);
  if (!existsSync(path)) return [];
  // A kill may have come while the last line was written.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Acknowledged);
}
