import type { StoreWarning } from './deps.js';

type Warn = (warning: StoreWarning) => void;

// About what stands in the store: whoever reads it meets it again, several times in one command.
const STANDING: ReadonlySet<StoreWarning['code']> = new Set([
  'AMBIGUOUS_MEMBER',
  'TIME_IN_FUTURE',
  'SEQUENCE_NOT_RISING',
]);
/** So many are said of one session; then one more says that there are others. */
export const MOST_WARNINGS = 10;

/** Gives a way to warn that says once what a store meets again and again, and no more of it than somebody would read. */
export function sayingOnce(warn: Warn): Warn {
  const said = new Map<string, Set<string>>();
  return (warning) => {
    if (!STANDING.has(warning.code)) return warn(warning);
    const key = `${warning.code} ${warning.sessionId}`;
    const messages = said.get(key) ?? new Set();
    said.set(key, messages);
    if (messages.size > MOST_WARNINGS || messages.has(warning.message)) return;
    messages.add(warning.message);
    const message =
      messages.size > MOST_WARNINGS ? `Session ${warning.sessionId} has more of the same` : warning.message;
    warn({ ...warning, message });
  };
}
