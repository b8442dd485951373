import { SessionNotFoundError } from '../errors.js';
import type { CommandContext } from './context.js';

/**
 * Gives the id of the session that a name means.
 * @throws {@link SessionNotFoundError} (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`)
 * @see CLI.md, "Sessions are named"
 */
export async function findSession({ store }: CommandContext, name: string): Promise<string> {
  // Full ids only until the resolver of the store is there.
  const session = (await store.list()).find(({ sessionId }) => sessionId === name);
  if (session === undefined) throw new SessionNotFoundError(name);
  return session.sessionId;
}
