import type { StoredEvent } from '../../model/event.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { CommandContext, CommandOutput, MemberSchemas } from '../command.js';
import { eventJson } from '../render/event-json.js';
import type { ListedSession } from '../render/listed-session.js';
import { sessionJson } from '../render/session-json.js';
import { listedSession } from '../report/written-session.js';
import { EVENT_SCHEMA, SESSION_SCHEMA } from '../schema/schema-parts.js';

/** A session that has or implements a spec, and the event about it. */
export interface SpecView {
  readonly listed: ListedSession;
  readonly event: StoredEvent | null;
  readonly notes: readonly string[];
}

/** Gives the view of a session with a spec. */
export async function specView(
  context: CommandContext,
  session: SessionMetadata,
  event: StoredEvent | null,
  notes: readonly string[],
): Promise<SpecView> {
  return { listed: await listedSession(context, session), event, notes };
}

export const SPEC_OUTPUT: CommandOutput<SpecView> = {
  text: ({ listed }) => `${listed.session.sessionId}\n`,
  json: ({ listed, event }, { redaction }) => ({
    members: { session: sessionJson(listed, redaction), event: event === null ? null : eventJson(event, redaction) },
  }),
  quiet: ({ listed }) => [listed.session.sessionId],
  notes: ({ notes }) => notes,
};

export const SPEC_SCHEMAS: readonly MemberSchemas[] = [
  { session: SESSION_SCHEMA, event: { anyOf: [EVENT_SCHEMA, { type: 'null' }] } },
];
