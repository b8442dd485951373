import type { ExecMode } from '../../plan/exec-prompt.js';
import type { Page } from '../page.js';
import type { ListedSession } from './listed-session.js';
import { counted } from './numbers.js';
import { safeLines, safeText } from './safe-text.js';
import { shownFolder, shownTitle } from './session-text.js';
import { goOnLine } from './shell-line.js';

/** What is resumed, and how to go on. */
export interface ResumeView {
  readonly listed: ListedSession;
  readonly mode: ExecMode;
  /** How many events a model sees of it. */
  readonly contextEvents: number;
  /** The command to go on with, as an argument list; without a request where none was given. */
  readonly command: readonly string[];
  /** What XDG_DATA_HOME has to be for Zero to find the store. */
  readonly dataHome: string | undefined;
  /** The prompt with its context, where a request was given. */
  readonly prompt: string | undefined;
  readonly quiet: boolean;
  /** How the program ended that was started; undefined when none was. */
  readonly exitCode: number | undefined;
}

/** Where the request belongs. */
const PLACE_OF_REQUEST = '<your request>';

/** Gives the line to go on with and what is resumed; or the prompt, and nothing else, where a request was given. */
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
  ] as const;
  // First, and nothing else on the line: it is copied as a whole.
  const line = style.code(lineOf(view, page));
  return `${line}\n${rows.map(([name, value]) => `${style.heading(name.padEnd(9))}${value}\n`).join('')}`;
}

function lineOf({ listed, dataHome, command }: ResumeView, { redaction }: Page): string {
  return goOnLine({
    folder: redaction.text(listed.session.cwd ?? ''),
    dataHome: dataHome === undefined ? undefined : redaction.text(dataHome),
    command: [...command, '--prompt'],
    placeholder: PLACE_OF_REQUEST,
  });
}

/** Gives what is resumed, for beside a prompt or before what is started. */
export function resumeNotes({ listed, mode, contextEvents, prompt, exitCode }: ResumeView): readonly string[] {
  const { sessionId, title = '' } = listed.session;
  const what = mode === 'fork' ? `Going on in ${sessionId}, a fork` : `Going on with ${sessionId}`;
  const name = title === '' ? '' : ` (${title})`;
  if (prompt !== undefined) return [`${what}${name}: ${counted(contextEvents, 'event')} of context.`];
  return exitCode === undefined && mode === 'fork' ? [`${what}${name}.`] : [];
}

// The lines of the context are safe as they are made; the request is the user's own, and goes out as it is typed.
function promptText(prompt: string, { width }: Page): string {
  if (width === undefined) return `${prompt}\n`;
  return safeLines(prompt)
    .map((line) => `${line}\n`)
    .join('');
}
