import type { CommandContext } from '../command.js';
import { HIDE_SECRETS, SHOW_SECRETS } from '../redaction.js';
import { safeText } from '../render/safe-text.js';

/**
 * Gives the id of the session that a name means.
 * @throws UsageError (`USAGE`), SessionNotFoundError (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`)
 * @see CLI.md, "Sessions are named"
 */
export function findSession({ store, cwd, globals }: CommandContext, name: string): Promise<string> {
  const redaction = globals.redact ? HIDE_SECRETS : SHOW_SECRETS;
  return store.resolve(name, {
    here: cwd,
    shownTitle: ({ title = '' }) => safeText(redaction.text(title)),
  });
}
