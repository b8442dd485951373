import type { CommandContext } from './context.js';

/**
 * Gives the id of the session that a name means.
 * @throws UsageError (`USAGE`), SessionNotFoundError (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`)
 * @see CLI.md, "Sessions are named"
 */
export function findSession({ store }: CommandContext, name: string): Promise<string> {
  return store.resolve(name);
}
