import { quoteWords } from '../command-words.js';
import type { ResumeView } from '../commands/resume.js';
import type { Page } from '../page.js';
import { counted } from './numbers.js';
import { safeLines, safeText } from './safe-text.js';
import { shownFolder, shownTitle } from './session-text.js';

/** Gives what is resumed and how to go on; or the prompt, and nothing else, where a request was given. */
export function renderResume(view: ResumeView, page: Page): string {
  const { listed, prompt, exitCode, quiet } = view;
  const { session } = listed;
  if (exitCode !== undefined) return '';
  if (prompt !== undefined) return promptText(page.redaction.text(prompt), page);
  if (quiet) return `${session.sessionId}\n`;
  const { style } = page;
  const title = shownTitle(session, page);
  const rows = [
    [view.mode === 'fork' ? 'fork' : 'session', style.id(session.sessionId)],
    ['title', typeof title === 'string' ? safeText(title) : title.paint(safeText(title.text))],
    ['folder', safeText(shownFolder(session.cwd ?? '', page)) || style.dim('(not recorded)')],
    ['context', counted(view.contextEvents, 'event')],
    ['go on with', style.code(safeText(page.redaction.text(goOnWith(view))))],
  ] as const;
  return rows.map(([name, value]) => `${style.heading(name.padEnd(12))}${value}\n`).join('');
}

/** Gives what is resumed, for beside a prompt or before what is started. */
export function resumeNotes({ listed, mode, contextEvents, prompt, exitCode }: ResumeView): readonly string[] {
  const { sessionId, title = '' } = listed.session;
  const what = mode === 'fork' ? `Going on in ${sessionId}, a fork` : `Going on with ${sessionId}`;
  const name = title === '' ? '' : ` (${title})`;
  if (prompt !== undefined) return [`${what}${name}: ${counted(contextEvents, 'event')} of context.`];
  return exitCode === undefined && mode === 'fork' ? [`${what}${name}.`] : [];
}

/** Gives the command line that goes on, from any folder. */
function goOnWith({ listed, command }: ResumeView): string {
  const { cwd = '' } = listed.session;
  return cwd === '' ? quoteWords(command) : `cd ${quoteWords([cwd])} && ${quoteWords(command)}`;
}

// The lines of the context are safe as they are made; the request is the user's own, and goes out as it is typed.
function promptText(prompt: string, { width }: Page): string {
  if (width === undefined) return `${prompt}\n`;
  return safeLines(prompt)
    .map((line) => `${line}\n`)
    .join('');
}
