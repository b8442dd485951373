import type { Page } from '../page.js';
import type { Cell } from './table.js';

/** Gives the title of a session for a cell, redacted; a session without one says so. */
export function shownTitle({ title }: { readonly title?: string }, { style, redaction }: Page): Cell {
  if (title === undefined || title === '') return { text: '(no title)', paint: style.dim };
  return { text: redaction.text(title), paint: style.plain };
}

/** Gives a folder, redacted; on a terminal with `~` for the home folder. */
export function shownFolder(folder: string, { home, redaction }: Page): string {
  const isInHome = home !== undefined && home !== '' && (folder === home || folder.startsWith(`${home}/`));
  return redaction.text(isInHome ? `~${folder.slice(home.length)}` : folder);
}
