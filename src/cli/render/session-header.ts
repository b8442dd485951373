import type { SessionMetadata } from '../../model/metadata.js';
import { integerText } from '../../model/metadata.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { Page } from '../page.js';
import { kindName, type ListedSession } from './listed-session.js';
import { grouped } from './numbers.js';
import { safeText } from './safe-text.js';
import { departureText } from './session-forest.js';
import { shownFolder, shownTitle } from './session-text.js';
import { storedTime } from './time.js';
import { truncateToWidth } from './width.js';

/** What `show` shows: who the session is, then its events as they are read. */
export interface ShowView {
  /** Of a session whose metadata cannot be read only the id is known. */
  readonly session:
    | ListedSession
    | { readonly session: Pick<SessionMetadata, 'sessionId'>; readonly live: boolean | undefined };
  /** Of its parent and its root, those that are not there. */
  readonly lostKin: ReadonlySet<string>;
  /** Undefined where nobody asks for it, or it would take reading all of a long log. */
  readonly summary: LogSummary | undefined;
  /** Events, and damaged lines where they stand; to be read once. */
  readonly items: AsyncIterable<ScannedLine>;
  /** Grows while the items are read. */
  readonly damage: readonly ShownDamage[];
  /** The stored bytes, instead of all that. */
  readonly raw: AsyncIterable<Uint8Array> | undefined;
  readonly form: 'conversation' | 'table';
  readonly full: boolean;
  /** Whether the log ends in an append that was cut short. */
  readonly isTorn: boolean;
}

/** What a log amounts to. */
export interface LogSummary {
  readonly events: number;
  readonly tokens: number;
  readonly checkpoints: number;
}

/** Something that could not be read; `line` is null when it is not in a line of the log. */
export interface ShownDamage {
  readonly line: number | null;
  readonly code: string;
  readonly message: string;
}

type ShownHeader = Pick<ShowView, 'session' | 'summary' | 'lostKin'>;
type ShownSession = ShowView['session']['session'];

const LABEL_WIDTH = 'checkpoints'.length + 2;

/** Gives who a session is: title, then a line for each thing that is known of it, then a blank line. */
export function renderSessionHeader(view: ShownHeader, page: Page): string {
  const { session } = view.session;
  const { style, width } = page;
  const title = shownTitle('title' in session ? session : {}, page);
  const titleText = safeText(typeof title === 'string' ? title : title.text);
  const lines = fields(view, page).map(([label, value]) => {
    const shown = safeText(value);
    const room = width === undefined ? undefined : Math.max(10, width - LABEL_WIDTH);
    return style.dim(label.padEnd(LABEL_WIDTH)) + (room === undefined ? shown : truncateToWidth(shown, room));
  });
  const heading = width === undefined ? titleText : truncateToWidth(titleText, width);
  return `${style.title(heading)}\n${lines.join('\n')}\n\n`;
}

function fields({ session: listed, summary, lostKin }: ShownHeader, page: Page): [label: string, value: string][] {
  const { session, live } = listed;
  const known: readonly (readonly [string, string | undefined])[] =
    'createdAt' in session ? metadataFields(session, lostKin, page) : [];
  const all: readonly (readonly [string, string | undefined])[] = [
    ['id', session.sessionId],
    ['live', live === true ? 'some process has it open or locked right now' : undefined],
    ...known,
    ['events', eventsText(session, summary)],
    ['tokens', summary === undefined ? undefined : grouped(summary.tokens)],
    ['checkpoints', summary === undefined ? undefined : grouped(summary.checkpoints)],
  ];
  return all.filter((field): field is [string, string] => field[1] !== undefined && field[1] !== '');
}

function metadataFields(
  session: SessionMetadata,
  lostKin: ReadonlySet<string>,
  page: Page,
): readonly (readonly [string, string | undefined])[] {
  const { redaction } = page;
  const shown = (text: string | undefined) => (text === undefined ? undefined : redaction.text(text));
  return [
    ['kind', redaction.text(kindName(session))],
    ['parent', parentText(session, lostKin)],
    ['root', session.rootSessionId === session.parentSessionId ? undefined : kinText(session.rootSessionId, lostKin)],
    ['agent', shown(session.agentName)],
    ['task', shown(session.taskId === session.sessionId ? undefined : session.taskId)],
    ['spec', shown([session.specId, session.specStatus, session.specFilePath].filter(isFilled).join(', '))],
    ['goal', shown(goalText(session))],
    ['folder', shownFolder(session.cwd ?? '', page)],
    ['model', shown(modelText(session))],
    ['tag', shown(session.tag)],
    ['created', timeText(session.createdAt, page)],
    ['updated', timeText(session.updatedAt, page)],
  ];
}

function parentText(session: SessionMetadata, lostKin: ReadonlySet<string>): string | undefined {
  const parent = kinText(session.parentSessionId, lostKin);
  const sequence = departureText(session);
  return parent === undefined || sequence === undefined ? parent : `${parent}, from event ${sequence}`;
}

function kinText(id: string | undefined, lostKin: ReadonlySet<string>): string | undefined {
  return id !== undefined && lostKin.has(id) ? `${id} (missing)` : id;
}

function goalText({ goal }: SessionMetadata): string | undefined {
  return goal === undefined ? undefined : `${goal.objective} (${goal.status})`;
}

function modelText({ modelId, provider }: SessionMetadata): string | undefined {
  if (modelId === undefined || provider === undefined) return modelId ?? provider;
  return `${modelId} (${provider})`;
}

/** Gives a time as stored, and on a terminal how long ago it was; a date would say nothing more. */
function timeText(stored: string, { nowMs }: Page): string {
  const relative = storedTime(stored, nowMs);
  const exact = storedTime(stored, undefined);
  const isDate = /^\d{4}-/.test(relative);
  return relative === exact || isDate ? exact : `${exact}, ${relative}`;
}

function eventsText(session: ShownSession, summary: LogSummary | undefined): string | undefined {
  if (summary !== undefined) return grouped(summary.events);
  return 'eventCount' in session ? `numbered up to ${integerText(session, 'eventCount')}` : undefined;
}

function isFilled(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
