import type { CommandContext } from '../command.js';

/** What a name or a text on the command line says when it is to be read from stdin. */
export const STDIN = '-';

/** Gives all of stdin. At a terminal it says that it waits. */
export async function readInput(context: CommandContext, what: string): Promise<Uint8Array> {
  if (context.in.isTerminal) await context.note(`Reading ${what} from the terminal; end with Ctrl-D on a new line.`);
  return Promise.race([allOf(context.in.bytes()), interruption(context.signal)]);
}

/** Gives all of stdin as text; what is no UTF-8 is shown as U+FFFD. */
export async function readInputText(context: CommandContext, what: string): Promise<string> {
  return new TextDecoder().decode(await readInput(context, what));
}

async function allOf(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

/** Never resolves; rejects on Ctrl-C. */
function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
