import { BEFORE_FIRST, parsePosition } from '../../plan/position.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type ParsedArguments, parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { typedPaths } from '../input/typed-path.js';
import { renderOutcome } from '../render/rewind.js';
import {
  exitCodeOf,
  goBack,
  OUTCOME_SCHEMAS,
  outcomeJson,
  outcomeNotes,
  quietOutcome,
  type RewindOutcome,
} from '../report/rewind-outcome.js';
import { folderOfFiles, pickFiles, WORKSPACE_FLAG, workspaceOf } from './checkpoint-files.js';

export const checkpointRestore = defineCommand<RewindOutcome>({
  description:
    'Files only: no event is dropped, and a marker is added to the log. All or nothing, as with rewind; the present ' +
    'content is kept, and zero-sessions rewind --undo brings it back.',
  examples: [
    'zero-sessions checkpoint restore latest --to last-checkpoint --dry-run',
    'zero-sessions checkpoint restore latest --to 12 src/login.ts',
  ],
  arguments: [
    { name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' },
    { name: '[path...]', description: 'only these files', value: 'file' },
  ],
  options: [
    { flags: '--to <position>', description: 'files become what they were just after this event', value: 'position' },
    { flags: '--dry-run', description: 'show the plan and exit as the restore would; change nothing' },
    { flags: '--force', description: 'overwrite what somebody else changed; that is kept' },
    { flags: '--allow-partial', description: 'do what can be done, and report the rest' },
    WORKSPACE_FLAG,
  ],
  writes: true,
  schemas: OUTCOME_SCHEMAS,
  output: {
    text: renderOutcome,
    json: (outcome, { redaction }) => ({ members: outcomeJson(outcome, redaction) }),
    quiet: quietOutcome,
    notes: outcomeNotes,
    exitCode: exitCodeOf,
  },
  run: runRestore,
});

async function runRestore(context: CommandContext, args: ParsedArguments): Promise<RewindOutcome> {
  const to = args.text('to');
  if (to === undefined)
    throw new UsageError('checkpoint restore needs --to', 'See: zero-sessions checkpoint restore --help');
  const id = await findSession(context, args.operand('session') ?? '');
  const target = parsePosition(parseFilled(to, '--to'), { allowNone: true });
  const workspace = workspaceOf(context, args);
  const folder = await folderOfFiles(context, id, workspace);
  const paths = await typedPaths(context, args.operands('path'), folder);
  if (paths.length > 0) pickFiles(await context.store.filesAt(id, BEFORE_FIRST, workspace), paths);
  return goBack(
    context,
    id,
    {
      target,
      part: 'files',
      workspace,
      paths: paths.length === 0 ? undefined : paths.map(({ name }) => name),
      force: args.flag('force'),
      allowPartial: args.flag('allow-partial'),
    },
    { dryRun: args.flag('dry-run'), work: 'restore' },
  );
}
