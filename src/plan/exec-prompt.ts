import type { StoredEvent } from '../model/event.js';
import type { SessionMetadata } from '../model/metadata.js';
import { cutToBytes, fold, previewLine } from './event-preview.js';

/** Whether a run starts a session, goes on with one, or goes on in a copy. */
export type ExecMode = 'new' | 'resume' | 'fork';

export interface PreparedExec {
  readonly mode: ExecMode;
  readonly session: SessionMetadata;
  /** Replayed events; for a fork those of the parent, under their own ids. */
  readonly contextEvents: readonly StoredEvent[];
}

const CONTEXT_TYPES: ReadonlySet<string> = new Set(
  'message session_compaction session_fork session_child specialist_start specialist_stop error'.split(' '),
);
const MOST_EVENTS = 80;
const MOST_BYTES = 500;

/**
 * The prompt for a model that knows nothing of the session yet (FORMAT.md, 4, formatExecPrompt).
 *
 * The first line is `Continuing session ID.` or, for a fork, `Forked from session ID.` with the parent's id where there
 * is one, and what follows is for the model. Then comes one line for each event, `- [SEQUENCE] TYPE …`, then an empty
 * line, `Request:`, and the request as it was given. Without context, and for a new session, the prompt is unchanged.
 */
export function formatExecPrompt(prompt: string, { mode, session, contextEvents }: PreparedExec): string {
  return formatShownContext(prompt, mode, session, shownInPrompt(contextEvents));
}

/** As {@link formatExecPrompt}, from the events that {@link shownInPrompt} chose: no other need be at hand. */
export function formatShownContext(
  prompt: string,
  mode: ExecMode,
  session: SessionMetadata,
  shown: readonly StoredEvent[],
): string {
  if (mode === 'new' || shown.length === 0) return prompt;
  const lines = shown.map((event) => previewLine(event, 'content', (line) => cutToBytes(line, MOST_BYTES)));
  return [`${heading(mode, session)} Its latest events, oldest first:`, ...lines, '', 'Request:', prompt].join('\n');
}

/** The last 80 events that tell the conversation; of all of them where none does. */
export function shownInPrompt<Event extends { readonly type: string }>(events: Iterable<Event>): readonly Event[] {
  const told: Event[] = [];
  const any: Event[] = [];
  for (const event of events) {
    if (CONTEXT_TYPES.has(event.type)) keepLast(told, event);
    else if (told.length === 0) keepLast(any, event);
  }
  return (told.length > 0 ? told : any).slice(-MOST_EVENTS);
}

function heading(mode: ExecMode, session: SessionMetadata): string {
  if (mode !== 'fork') return `Continuing session ${fold(session.sessionId)}.`;
  return `Forked from session ${fold(session.parentSessionId || session.sessionId)}.`;
}

// Twice as many are let in before the older half goes: no shifting for every event.
function keepLast<Event>(events: Event[], event: Event): void {
  events.push(event);
  if (events.length >= MOST_EVENTS * 2) events.splice(0, events.length - MOST_EVENTS);
}
