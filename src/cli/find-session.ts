import { SessionNotFoundError } from '../errors.js';
import { isResumableKind } from '../model/metadata.js';
import type { CommandContext } from './context.js';

/**
 * Gives the id of the session that a name means.
 * @throws {@link SessionNotFoundError} (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`)
 * @see CLI.md, "Sessions are named"
 */
export async function findSession({ store }: CommandContext, name: string): Promise<string> {
  // Only latest and full ids, until the resolver of the store is there.
  const { sessions, unreadable } = await store.listWithFaults();
  const latest = sessions.find(({ sessionKind }) => isResumableKind(sessionKind));
  if (name === 'latest' && latest !== undefined) return latest.sessionId;
  const id = name.startsWith('id:') ? name.slice('id:'.length) : name;
  const found = [...sessions, ...unreadable].find(({ sessionId }) => sessionId === id);
  if (found === undefined) throw new SessionNotFoundError(name);
  return found.sessionId;
}
