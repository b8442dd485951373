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

const CONTEXT_TYPES: ReadonlySet<string> = new Set([
  'message',
  'session_compaction',
  'session_fork',
  'session_child',
  'specialist_start',
  'specialist_stop',
  'error',
]);
const MOST_EVENTS = 80;
const MOST_BYTES = 500;

/**
 * Gives the prompt for a model that knows nothing of the session yet.
 *
 * The first line is `Continuing session ID.` or, for a fork, `Forked from session ID.` with the parent's id where there
 * is one, and what follows is for the model. Then comes one line for each event, `- [SEQUENCE] TYPE …`, then an empty
 * line, `Request:`, and the request as it was given. No event takes more than one line. Without context, and for a new
 * session, the prompt is unchanged.
 * @see FORMAT.md, 4, formatExecPrompt
 */
export function formatExecPrompt(prompt: string, { mode, session, contextEvents }: PreparedExec): string {
  const context = new ExecContext();
  for (const event of contextEvents) context.add(event);
  return context.format(prompt, mode, session);
}

/** The part of a conversation that a prompt shows, gathered while the events go by: no log has to be held for it. */
export class ExecContext {
  readonly #told: StoredEvent[] = [];
  readonly #any: StoredEvent[] = [];

  /** Takes the next event, oldest first. */
  add(event: StoredEvent): void {
    if (CONTEXT_TYPES.has(event.type)) keepLast(this.#told, event);
    else if (this.#told.length === 0) keepLast(this.#any, event);
  }

  /** Gives the events that the prompt shows: the last 80 that tell the conversation, or of all if there is none. */
  events(): readonly StoredEvent[] {
    return (this.#told.length > 0 ? this.#told : this.#any).slice(-MOST_EVENTS);
  }

  /** Gives the prompt. See {@link formatExecPrompt}. */
  format(prompt: string, mode: ExecMode, session: SessionMetadata): string {
    const events = this.events();
    if (mode === 'new' || events.length === 0) return prompt;
    const lines = events.map((event) => previewLine(event, 'content', (line) => cutToBytes(line, MOST_BYTES)));
    return [`${heading(mode, session)} Its latest events, oldest first:`, ...lines, '', 'Request:', prompt].join('\n');
  }
}

function heading(mode: ExecMode, session: SessionMetadata): string {
  if (mode !== 'fork') return `Continuing session ${fold(session.sessionId)}.`;
  return `Forked from session ${fold(session.parentSessionId || session.sessionId)}.`;
}

// Twice as many are let in before the older half goes: no shifting for every event.
function keepLast(events: StoredEvent[], event: StoredEvent): void {
  events.push(event);
  if (events.length >= MOST_EVENTS * 2) events.splice(0, events.length - MOST_EVENTS);
}
