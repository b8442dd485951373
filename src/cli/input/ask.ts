import process from 'node:process';
import { createInterface } from 'node:readline/promises';

/**
 * Asks a question on stderr and reads a line from stdin; empty when the input ends instead. Stdin is let go of afterwards, so
 * that what is started next can have it.
 * @throws the reason of the signal when that aborts.
 */
export async function askAtTerminal(question: string, signal: AbortSignal): Promise<string> {
  // Not as a terminal: the system's own line editing does, and Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question, { signal }), ended]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}
