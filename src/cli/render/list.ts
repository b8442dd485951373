import { integerText } from '../../model/metadata.js';
import type { UnreadableSession } from '../../store/queries/list-sessions.js';
import type { Page } from '../page.js';
import { kindName, type ListedSession, type UnreadableRow } from './listed-session.js';
import { counted } from './numbers.js';
import { shownFolder, shownTitle } from './session-text.js';
import { type Cell, type Column, renderTable } from './table.js';
import { formatBytes, storedTime } from './time.js';

/** What `list` found: the rows, how many are hidden, and which could not be read. */
export interface ListView {
  readonly sessions: readonly ListedSession[];
  /** Sessions that all other flags would show, by kind: `--all` shows them. */
  readonly hidden: Readonly<Record<string, number>>;
  readonly unreadable: readonly UnreadableSession[];
  /** How many `--limit` left out. */
  readonly beyondLimit: number;
  /** How many entries of the store are no session. */
  readonly leftOvers: number;
  /** What was asked for, when nothing was found because nothing fits it. */
  readonly isFiltered: boolean;
  readonly root: string;
  readonly withSizes: boolean;
  /** Whether the form that is wanted has room for what could not be read; else stderr says it. */
  readonly showsUnreadable: boolean;
}

// On a narrow terminal: folder and model go first, then titles are cut; the id is what other commands take.
const ID: Column = { header: 'ID' };
const TITLE: Column = { header: 'TITLE', shrink: 2, minWidth: 16 };
const KIND: Column = { header: 'KIND' };
const UPDATED: Column = { header: 'UPDATED' };
const EVENTS: Column = { header: 'EVENTS', align: 'right', hide: 1 };
const LOG: Column = { header: 'LOG', align: 'right' };
const BLOBS: Column = { header: 'BLOBS', align: 'right' };
const KEPT: Column = { header: 'KEPT', align: 'right' };
const MODEL: Column = { header: 'MODEL', shrink: 2, minWidth: 8, hide: 2 };
const FOLDER: Column = { header: 'FOLDER', shrink: 3, minWidth: 12, hide: 3 };

/** Gives a list as a table, a row for each session, then one for each that cannot be read. */
export function renderList(
  view: Pick<ListView, 'sessions' | 'withSizes'> & { readonly unreadable: readonly UnreadableRow[] },
  page: Page,
): string {
  if (view.sessions.length === 0 && view.unreadable.length === 0) return '';
  const sizes = view.withSizes ? [LOG, BLOBS, KEPT] : [];
  const columns = [ID, TITLE, KIND, UPDATED, EVENTS, ...sizes, MODEL, FOLDER];
  const rows = view.sessions.map((each) => sessionRow(each, view.withSizes, page));
  const faults = view.unreadable.map(({ sessionId, code, message }): Cell[] => [
    { text: sessionId, paint: page.style.id },
    { text: page.redaction.text(message), paint: page.style.error },
    { text: code === 'SESSION_NOT_FOUND' ? 'missing' : 'damaged', paint: page.style.error },
  ]);
  return renderTable(columns, [...rows, ...faults], { width: page.width, style: page.style });
}

function sessionRow({ session, live, sizes }: ListedSession, withSizes: boolean, page: Page): Cell[] {
  const { style, redaction } = page;
  const kind = redaction.text(kindName(session));
  const { logBytes = 0, blobBytes = 0, keptBytes = 0 } = sizes ?? {};
  const bytes = withSizes ? [logBytes, blobBytes, keptBytes].map(formatBytes) : [];
  return [
    { text: session.sessionId, paint: style.id },
    shownTitle(session, page),
    live === true ? { text: `${kind}, live`, paint: style.live } : { text: kind, paint: style.kind },
    { text: storedTime(session.updatedAt, page.nowMs), paint: style.plain },
    integerText(session, 'eventCount'),
    ...bytes,
    redaction.text(session.modelId ?? ''),
    { text: shownFolder(session.cwd ?? '', page), paint: style.dim },
  ];
}

/** Gives what is damaged, for where no row says so. */
export function listWarnings(view: ListView): readonly string[] {
  return view.showsUnreadable ? [] : view.unreadable.map(({ message }) => message);
}

/** Gives what is not in the table: nothing at all, hidden kinds, what is beyond the limit. */
export function listNotes(view: ListView): readonly string[] {
  const notes: string[] = [];
  const hidden = Object.values(view.hidden).reduce((sum, count) => sum + count, 0);
  if (view.sessions.length === 0) notes.push(emptyNote(view));
  if (view.beyondLimit > 0) notes.push(`${counted(view.beyondLimit, 'more session')} beyond --limit.`);
  if (hidden > 0) {
    const kinds = Object.entries(view.hidden).map(([kind, count]) => `${count} ${kind}`);
    notes.push(`${counted(hidden, 'session')} hidden (${kinds.join(', ')}); --all shows them.`);
  }
  if (view.leftOvers > 0) {
    const what = view.leftOvers === 1 ? '1 entry of the store is' : `${view.leftOvers} entries of the store are`;
    notes.push(`${what} no session (a copy, a left-over): zero-sessions info lists them.`);
  }
  return notes;
}

function emptyNote(view: ListView): string {
  return view.isFiltered ? 'No session fits.' : `No sessions in ${view.root}.`;
}
