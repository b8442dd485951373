import { type ParsedArguments, parseFilled } from '../arguments.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { findPosition } from '../find-position.js';
import { findSession } from '../find-session.js';
import { DESCRIPTION_FLAGS, describedSession, ID_FLAG } from '../metadata-flags.js';
import {
  WRITTEN_SESSION_OUTPUT,
  WRITTEN_SESSION_SCHEMAS,
  type WrittenSession,
  writtenSession,
} from '../written-session.js';

export const fork = defineCommand<WrittenSession>({
  description:
    'The fork starts with the events of the session, up to --at or all of them, and goes its own way; the session itself ' +
    'stays as it is. What is not given is taken from it. The new id goes to stdout.',
  examples: ['new=$(zero-sessions fork latest -q)', 'zero-sessions fork latest --at -4 --title "Another way"'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--at <position>', description: 'the last event to copy; 0 for none', value: 'position' },
    ...DESCRIPTION_FLAGS,
    { flags: '--side', description: 'a side question: hidden from list, never resumed' },
    ID_FLAG,
  ],
  writes: true,
  schemas: WRITTEN_SESSION_SCHEMAS,
  output: WRITTEN_SESSION_OUTPUT,
  run: runFork,
});

async function runFork(context: CommandContext, args: ParsedArguments): Promise<WrittenSession> {
  const parentId = await findSession(context, args.operand('session') ?? '');
  const position = args.text('at');
  const at =
    position === undefined
      ? undefined
      : await findPosition(context, parentId, parseFilled(position, '--at'), { allowNone: true });
  const session = await context.store.fork(parentId, {
    ...describedSession(args, context.cwd),
    ...(args.flag('side') ? { sessionKind: 'side' } : {}),
    at,
  });
  const through = session.forkedFromSequence;
  const where = through === undefined ? 'with none of its events' : `after event ${through}`;
  return writtenSession(context, session, [
    `A ${args.flag('side') ? 'side question' : 'fork'} of ${parentId}, ${where}.`,
  ]);
}
