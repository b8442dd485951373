import type { SessionMetadata } from '../../model/metadata.js';
import type { CommandContext, CommandOutput, MemberSchemas } from '../command.js';
import { renderList } from '../render/list.js';
import type { ListedSession, UnreadableRow } from '../render/listed-session.js';
import { sessionJson } from '../render/session-json.js';
import { EXIT_DAMAGED, EXIT_DONE } from '../report/exit-codes.js';
import { SESSION_SCHEMA, UNREADABLE_SCHEMA } from '../schema/schema-parts.js';

/** Sessions that are kin to one, and those that may be but cannot be read. */
export interface SessionFamily {
  readonly sessions: readonly ListedSession[];
  readonly unreadable: readonly UnreadableRow[];
  /** Said when there are none. */
  readonly emptyNote: string;
}

/** Gives the view of a family. */
export async function sessionFamily(
  { store }: CommandContext,
  sessions: readonly SessionMetadata[],
  unreadable: readonly UnreadableRow[],
  emptyNote: string,
): Promise<SessionFamily> {
  const { isLive } = await store.liveSessions();
  return {
    sessions: sessions.map((session) => ({ session, live: isLive(session.sessionId) })),
    unreadable,
    emptyNote,
  };
}

/** A family is shown as a list is, and what cannot be read is damage beside it. */
export const FAMILY_OUTPUT: CommandOutput<SessionFamily> = {
  text: (view, page) => renderList({ ...view, withSizes: false }, page),
  json: (view, { redaction }) => ({
    members: {
      sessions: view.sessions.map((each) => sessionJson(each, redaction)),
      unreadable: view.unreadable.map((each) => ({ ...each, message: redaction.text(each.message) })),
    },
  }),
  jsonl: (view, { redaction }) => view.sessions.map((each) => sessionJson(each, redaction)),
  quiet: (view) => view.sessions.map(({ session }) => session.sessionId),
  warnings: ({ unreadable }) => unreadable.map(({ message }) => message),
  notes: ({ sessions, emptyNote }) => (sessions.length === 0 ? [emptyNote] : []),
  // What is gone is no damage: somebody deleted it.
  exitCode: ({ unreadable }) =>
    unreadable.some(({ code }) => code !== 'SESSION_NOT_FOUND') ? EXIT_DAMAGED : EXIT_DONE,
};

export const FAMILY_SCHEMAS: readonly MemberSchemas[] = [
  { sessions: { type: 'array', items: SESSION_SCHEMA }, unreadable: { type: 'array', items: UNREADABLE_SCHEMA } },
];
