import { defineCommand } from '../define-command.js';
import { findSession } from '../input/find-session.js';
import { FAMILY_OUTPUT, FAMILY_SCHEMAS, type SessionFamily, sessionFamily } from './session-family.js';

export const children = defineCommand<SessionFamily>({
  description:
    'Only sessions of kind child, the one spawned last first: what agents did on behalf of the session. Forks and all ' +
    'else that came from it: zero-sessions tree. A session that cannot be read might be one of them, and is told.',
  examples: ['zero-sessions children latest'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [],
  schemas: FAMILY_SCHEMAS,
  output: FAMILY_OUTPUT,
  run: async (context, args) => {
    const id = await findSession(context, args.operand('session') ?? '');
    const found = await context.store.listChildren(id);
    const { unreadable } = await context.store.listWithFaults();
    return sessionFamily(context, found, unreadable, `Session ${id} has no children.`);
  },
});
