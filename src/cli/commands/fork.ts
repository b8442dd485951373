import { parsePosition } from '../../plan/position.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { type ParsedArguments, parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { DESCRIPTION_FLAGS, describedSession, ID_FLAG } from '../input/metadata-flags.js';
import { openCallNotes } from '../render/open-calls.js';
import {
  WRITTEN_SESSION_OUTPUT,
  WRITTEN_SESSION_SCHEMAS,
  type WrittenSession,
  writtenSession,
} from '../report/written-session.js';

export const fork = defineCommand<WrittenSession>({
  description:
    'The fork starts with the events of the session, up to --at or all of them, and goes its own way; the session itself ' +
    'stays as it is. What is not given is taken from it. The new id goes to stdout.',
  examples: ['new=$(zero-sessions fork latest -q)', 'zero-sessions fork latest --at -4 --title "Another way"'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--at <position>', description: 'the last event to copy; 0 for none', value: 'position' },
    { flags: '--whole-turns', description: 'part no tool call from its result: end earlier instead' },
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
  const session = await context.store.fork(parentId, {
    ...describedSession(args, context.cwd),
    ...(args.flag('side') ? { sessionKind: 'side' } : {}),
    at: position === undefined ? undefined : parsePosition(parseFilled(position, '--at'), { allowNone: true }),
    wholeTurns: args.flag('whole-turns'),
  });
  const through = session.forkedFromSequence;
  const where = through === undefined ? 'with none of its events' : `after event ${through}`;
  const notes = [`A ${args.flag('side') ? 'side question' : 'fork'} of ${parentId}, ${where}.`];
  const cut = through === undefined ? undefined : await context.store.cutCalls(parentId, through);
  return writtenSession(context, session, cut === undefined ? notes : [...notes, ...openCallNotes(through ?? 0, cut)]);
}
