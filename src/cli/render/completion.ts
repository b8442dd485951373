import type { Completion } from '../completion/candidate.js';
import { FILES_ANSWER, FOLDERS_ANSWER } from '../completion/completions.js';
import type { CompletionRequest } from '../completion/typed-line.js';
import { replaceNotDrawn } from './safe-text.js';
import { truncateToWidth } from './width.js';

const DESCRIPTION_WIDTH = 64;
// No shell looks for these in a description. Nor shall one that is told to some day find anything.
const SHELL_SYNTAX = /[`$\\]/g;

/** Gives the answer to a completion script: a candidate a line, and after a tab what it stands for where the shell shows it. */
export function renderCompletion(
  completion: Completion,
  { shell, kept }: Pick<CompletionRequest, 'shell' | 'kept'>,
): string {
  if (completion.kind === 'files') return `${FILES_ANSWER}\n`;
  if (completion.kind === 'folders') return `${FOLDERS_ANSWER}\n`;
  const lines = completion.candidates.map(({ word, description }) => {
    const text = shell === 'bash' ? '' : safeDescription(description);
    return text === '' ? `${word.slice(kept)}\n` : `${word.slice(kept)}\t${text}\n`;
  });
  return lines.join('');
}

/** Gives a text as one short line that holds nothing for a terminal or a shell to obey. */
function safeDescription(text: string): string {
  const line = replaceNotDrawn(text, () => ' ')
    .replace(SHELL_SYNTAX, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return truncateToWidth(line, DESCRIPTION_WIDTH);
}
