import type { SessionMetadata } from '../../model/metadata.js';
import type { CommandContext, CommandOutput, MemberSchemas } from '../command.js';
import type { ListedSession } from '../render/listed-session.js';
import { sessionJson } from '../render/session-json.js';
import { SESSION_SCHEMA } from '../schema/schema-parts.js';

/** What a command shows that made or changed a session: its id, and what a person should know besides. */
export interface WrittenSession {
  readonly listed: ListedSession;
  readonly notes: readonly string[];
}

/** Gives the view of a session that was made or changed. */
export async function writtenSession(
  context: CommandContext,
  session: SessionMetadata,
  notes: readonly string[],
): Promise<WrittenSession> {
  return { listed: await listedSession(context, session), notes };
}

/** Gives a session with what is computed besides its metadata. */
export async function listedSession({ store }: CommandContext, session: SessionMetadata): Promise<ListedSession> {
  const { isLive } = await store.liveSessions();
  return { session, live: isLive(session.sessionId) };
}

/** What is printed: the id on stdout, the rest on stderr, so that `new=$(zero-sessions fork …)` works without `-q`. */
export const WRITTEN_SESSION_OUTPUT: CommandOutput<WrittenSession> = {
  text: ({ listed }) => `${listed.session.sessionId}\n`,
  json: ({ listed }, { redaction }) => ({ members: { session: sessionJson(listed, redaction) } }),
  quiet: ({ listed }) => [listed.session.sessionId],
  notes: ({ notes }) => notes,
};

export const WRITTEN_SESSION_SCHEMAS: readonly MemberSchemas[] = [{ session: SESSION_SCHEMA }];
