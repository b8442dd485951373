import { defineCommand } from '../define-command.js';
import { parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import {
  WRITTEN_SESSION_OUTPUT,
  WRITTEN_SESSION_SCHEMAS,
  type WrittenSession,
  writtenSession,
} from '../report/written-session.js';

export const rename = defineCommand<WrittenSession>({
  description: 'A new title is no activity: the session keeps its place in the list.',
  examples: ['zero-sessions rename latest "Fix the login"'],
  arguments: [
    { name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' },
    { name: '<title>', description: 'the new title' },
  ],
  options: [],
  writes: true,
  schemas: WRITTEN_SESSION_SCHEMAS,
  output: WRITTEN_SESSION_OUTPUT,
  run: async (context, args) => {
    const title = parseFilled(args.operand('title') ?? '', 'The title');
    const id = await findSession(context, args.operand('session') ?? '');
    const before = (await context.store.get(id))?.title ?? '';
    const session = await context.store.updateTitle(id, title);
    const was = before === '' ? 'It had no title.' : `It was ${JSON.stringify(before)}.`;
    return writtenSession(context, session, [before === session.title ? 'It has that title already.' : was]);
  },
});
