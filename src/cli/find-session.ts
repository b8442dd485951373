import type { SessionId } from '../model/ids.js';
import type { CommandContext } from './context.js';

/**
 * Gives the id of the session that a name means.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`), UsageError (`USAGE`)
 * @see CLI.md, "Sessions are named"
 */
export async function findSession({ store }: CommandContext, name: string): Promise<SessionId> {
  return store.resolve(name);
}
