import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What became of one try to make a session. */
export interface Outcome {
  readonly won: boolean;
  /** The code of the error. */
  readonly code?: string;
  /** Whether the id was lost only when the session was built and the id was claimed. */
  readonly late?: boolean;
  readonly tookMs: number;
}

/** A process that makes sessions at given moments; its name is their title. */
export interface Racer {
  readonly name: string;
  readonly kind: 'ours' | 'foreign';
  /** Has it make a session at this moment, milliseconds since 1970. */
  create(root: string, id: string, moment: number): Promise<Outcome>;
  end(): Promise<void>;
}

/** Starts one. It runs the built library: build first. */
export function startRacer(kind: Racer['kind'], name: string): Racer {
  const script = fileURLToPath(new URL('race-actor.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, kind, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    kind,
    async create(root, id, moment) {
      child.stdin.write(`${root}\t${id}\t${moment}\n`);
      const answer = await answers.next();
      if (answer.done === true) throw new Error(`${name} ended`);
      return JSON.parse(answer.value) as Outcome;
    },
    async end() {
      child.stdin.end();
      await gone;
    },
  };
}
