/** What the prompt for a run says, apart from its wording (README.md, `formatExecPrompt`). */
export interface ReadExecPrompt {
  readonly label: 'unchanged' | 'continuing' | 'forked';
  /** The session that the heading names. */
  readonly sessionId?: string;
  /** The events in the prompt, in order. */
  readonly sequences: readonly number[];
}

const HEADING = /\b(continu|fork)\w*\b.*?\bsession\b[^A-Za-z0-9]*([A-Za-z0-9][A-Za-z0-9_-]*)/i;

/** Reads back what `formatExecPrompt` wrote around a user's request. */
export function readExecPrompt(prompt: string, request: string): ReadExecPrompt {
  if (prompt === request) return { label: 'unchanged', sequences: [] };
  if (!prompt.endsWith(request)) throw new Error(`the prompt does not end with the request: ${prompt}`);
  const [heading = '', ...lines] = prompt.slice(0, prompt.length - request.length).split('\n');
  const named = HEADING.exec(heading);
  if (named === null) throw new Error(`the prompt begins with: ${heading}`);
  const sequences = lines.flatMap((line) => /^\D{0,4}(\d+)\b/.exec(line)?.[1] ?? []).map(Number);
  return {
    label: named[1]?.toLowerCase() === 'fork' ? 'forked' : 'continuing',
    sessionId: named[2] as string,
    sequences,
  };
}
