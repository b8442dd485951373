import { MetadataDamagedError, MetadataMissingError } from '../../errors.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { UnreadableSession } from '../../store/list-sessions.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { findSession } from '../find-session.js';
import { FAMILY_OUTPUT, FAMILY_SCHEMAS, type SessionFamily, sessionFamily } from '../session-family.js';

export const lineage = defineCommand<SessionFamily>({
  description:
    'The first ancestor comes first, the session itself last. Where an ancestor cannot be read, what is known below it ' +
    'is shown.',
  examples: ['zero-sessions lineage latest', 'zero-sessions lineage latest -q | head -1'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [],
  schemas: FAMILY_SCHEMAS,
  output: FAMILY_OUTPUT,
  run: async (context, args) => {
    const id = await findSession(context, args.operand('session') ?? '');
    const { sessions, unreadable } = await readAncestors(context, id);
    return sessionFamily(context, sessions, unreadable, '');
  },
});

interface Ancestors {
  readonly sessions: readonly SessionMetadata[];
  readonly unreadable: readonly UnreadableSession[];
}

async function readAncestors({ store }: CommandContext, id: string): Promise<Ancestors> {
  try {
    return { sessions: await store.lineage(id), unreadable: [] };
  } catch (error) {
    const isAncestor =
      (error instanceof MetadataDamagedError || error instanceof MetadataMissingError) && error.sessionId !== id;
    if (!isAncestor) throw error;
    const all = await store.listWithFaults();
    const unreadable = all.unreadable.filter(({ sessionId }) => sessionId === error.sessionId);
    return { sessions: upTo(all.sessions, id, error.sessionId), unreadable };
  }
}

/** Gives a session and its ancestors below the one that cannot be read. */
function upTo(sessions: readonly SessionMetadata[], id: string, end: string): readonly SessionMetadata[] {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  const path: SessionMetadata[] = [];
  for (let at = byId.get(id); at !== undefined && at.sessionId !== end; at = byId.get(at.parentSessionId ?? '')) {
    path.unshift(at);
  }
  return path;
}
