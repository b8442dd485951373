import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A process of ours that takes locks when told to; see lock-actor.mjs for what it understands. */
export interface LockActor {
  readonly pid: number;
  /** Sends one command and gives `done`, or the code (else the name) of the error. */
  tell(...command: string[]): Promise<string>;
  send(signal: NodeJS.Signals): void;
  /** Ends it with a signal and waits until it is gone. Defaults to SIGKILL, which also ends one that is stopped. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts one. It runs the built library: build first. */
export function startLockActor(env: Readonly<Record<string, string>> = {}): LockActor {
  const script = fileURLToPath(new URL('lock-actor.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const gone = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: pidOf(child),
    async tell(...command) {
      child.stdin.write(`${command.join('\t')}\n`);
      const answer = await answers.next();
      if (answer.done === true) throw new Error(`the lock actor ended at: ${command.join(' ')}`);
      const { code } = JSON.parse(answer.value) as { code?: string };
      return code ?? 'done';
    },
    send: (signal) => {
      child.kill(signal);
    },
    async end(signal = 'SIGKILL') {
      child.kill(signal);
      await gone;
    },
  };
}

/** A foreign program with flock on a file: what Zero looks like from outside. */
export interface ForeignHolder {
  readonly pid: number;
  /** Lets go of the lock and ends. */
  letGo(): Promise<void>;
}

/** Starts `flock FILE cat` and waits until it has the lock. */
export async function startForeignHolder(path: string): Promise<ForeignHolder> {
  const child = spawn('flock', ['-x', path, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  child.stdin.write('held\n');
  await once(child.stdout, 'data'); // cat runs only once flock has the lock
  return {
    pid: pidOf(child),
    async letGo() {
      child.stdin.end();
      await gone;
    },
  };
}

function pidOf(child: ChildProcessByStdio<Writable, Readable, null>): number {
  if (child.pid === undefined) throw new Error('the process did not start');
  return child.pid;
}
