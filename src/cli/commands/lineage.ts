import { CycleError, ZeroSessionsError } from '../../errors.js';
import { validSessionId } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { findSession } from '../input/find-session.js';
import type { UnreadableRow } from '../render/listed-session.js';
import { FAMILY_OUTPUT, FAMILY_SCHEMAS, type SessionFamily, sessionFamily } from './session-family.js';

export const lineage = defineCommand<SessionFamily>({
  description:
    'The first ancestor comes first, the session itself last. Where an ancestor is gone or cannot be read, what is ' +
    'known below it is shown.',
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
  readonly unreadable: readonly UnreadableRow[];
}

/** Reads a session and its ancestors as far up as they are there, and says why it goes no further. */
async function readAncestors({ store }: CommandContext, id: string): Promise<Ancestors> {
  try {
    return { sessions: await store.lineage(id), unreadable: [] };
  } catch (error) {
    if (!(error instanceof ZeroSessionsError) || error instanceof CycleError) throw error;
    const all = await store.listWithFaults();
    const sessions = withAncestors(all.sessions, id);
    const parent = sessions[0]?.parentSessionId;
    if (parent === undefined) throw error; // it is about the session itself
    const unreadable = all.unreadable.find(({ sessionId }) => sessionId === parent);
    return { sessions, unreadable: [unreadable ?? lostParent(parent, sessions[0] as SessionMetadata)] };
  }
}

/** Gives a session and those of its ancestors that can be read, without a gap, the first of them first. */
function withAncestors(sessions: readonly SessionMetadata[], id: string): readonly SessionMetadata[] {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  const path: SessionMetadata[] = [];
  for (let at = byId.get(id); at !== undefined; at = byId.get(at.parentSessionId ?? '')) path.unshift(at);
  return path;
}

function lostParent(parent: string, { sessionId }: SessionMetadata): UnreadableRow {
  const named = `session ${sessionId} names as its parent`;
  return validSessionId(parent)
    ? { sessionId: parent, code: 'SESSION_NOT_FOUND', message: `There is no session ${parent}, which ${named}` }
    : { sessionId: parent, code: 'INVALID_ID', message: `${JSON.stringify(parent)}, which ${named}, is no id` };
}
