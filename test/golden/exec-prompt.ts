/** What the prompt for a run says, apart from its wording (README.md, `formatExecPrompt`). */
export interface ReadExecPrompt {
  readonly label: 'unchanged' | 'continuing' | 'forked';
  /** The session that the heading names. */
  readonly sessionId?: string;
  /** The events in the prompt, in order. */
  readonly sequences: readonly number[];
}

const HEADING = /^(Continuing|Forked from) session ([A-Za-z0-9_-]+)\. /;
const EVENT = /^- \[(\d+)\] \S/;

/**
 * Reads back what `formatExecPrompt` wrote around a request: a heading, a line for each event, and the request.
 * @throws Error when any line is something else.
 */
export function readExecPrompt(prompt: string, request: string): ReadExecPrompt {
  if (prompt === request) return { label: 'unchanged', sequences: [] };
  const end = `\n\nRequest:\n${request}`;
  if (!prompt.endsWith(end)) throw new Error(`the prompt does not end with the request: ${prompt}`);
  const [heading = '', ...lines] = prompt.slice(0, -end.length).split('\n');
  const [, label, sessionId = ''] = HEADING.exec(heading) ?? [];
  if (label === undefined) throw new Error(`the prompt begins with: ${heading}`);
  return { label: label === 'Continuing' ? 'continuing' : 'forked', sessionId, sequences: lines.map(sequenceIn) };
}

function sequenceIn(line: string): number {
  const sequence = EVENT.exec(line)?.[1];
  if (sequence === undefined) throw new Error(`the prompt has a line that shows no event: ${line}`);
  return Number(sequence);
}
