import process from 'node:process';
import { InterruptedError } from './errors.js';

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly InterruptedError['signal'][];

/**
 * Listens for the signals that end a program, for as long as the process lives. The first aborts; others change nothing.
 *
 * A listener that went away would leave the decision to those of packages, which end the process to remove their files.
 * @see CLI.md, "Exit codes"
 */
export function listenForSignals(): AbortSignal {
  const interrupt = new AbortController();
  for (const name of ENDING) process.on(name, () => interrupt.abort(new InterruptedError(name)));
  // With a listener of ours a file that grows past its limit (ulimit -f) is an error of the write, EFBIG.
  if (process.platform !== 'win32') process.on('SIGXFSZ', () => {});
  return interrupt.signal;
}
