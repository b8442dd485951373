import type { CommandContext } from '../command.js';
import { formatBytes } from '../render/time.js';

/** From so many bytes on it is said how much is kept for undo. */
export const NOTABLE_KEPT_BYTES = 100_000_000;

/** What is kept of a session for undo, where that is so much that somebody should know. */
export interface KeptSize {
  readonly sessionId: string;
  readonly bytes: number;
}

/** Measures what is kept of a session; undefined below what is worth a word. */
export async function notableKept({ store }: CommandContext, sessionId: string): Promise<KeptSize | undefined> {
  const bytes = (await store.measure(sessionId)).keptBytes;
  return bytes < NOTABLE_KEPT_BYTES ? undefined : { sessionId, bytes };
}

/** Says how much is kept, and what can be done about it. */
export function keptNote({ sessionId, bytes }: KeptSize): string {
  return (
    `What can be undone in ${sessionId} takes ${formatBytes(bytes)}. No command removes it yet; the folders in ` +
    '.zs/kept of the session can be deleted, oldest first, and with each the undo of that rewind.'
  );
}
