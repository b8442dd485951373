import { resolve } from 'node:path';
import { FileNotFoundError, WorkspaceRefusedError } from '../../errors.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { StoredEvent } from '../../model/event.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { findSession } from '../input/find-session.js';
import { isFolder, isThere } from '../input/folder.js';
import { filledText } from '../input/metadata-flags.js';
import { standsIn, typedPaths } from '../input/typed-path.js';
import { type CaptureView, renderCapture } from '../render/checkpoint.js';
import { eventJson } from '../render/event-json.js';
import { EVENT_SCHEMA } from '../schema/schema-parts.js';
import { folderOfFiles, WORKSPACE_FLAG, workspaceOf } from './checkpoint-files.js';

export const checkpointCapture = defineCommand<CaptureView>({
  description:
    'To be done before files are changed: what they are now is what a rewind brings back. A file that is not there is ' +
    'recorded as absent, and a rewind removes what was made in its place. Paths are taken from where the command is ' +
    'typed when that lies in the folder of the session, else from that folder.',
  examples: ['zero-sessions checkpoint capture latest src/login.ts src/login.test.ts'],
  arguments: [
    { name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' },
    { name: '<path...>', description: 'files that are about to change', value: 'file' },
  ],
  options: [{ flags: '--tool <name>', description: 'what is about to change them (manual)' }, WORKSPACE_FLAG],
  writes: true,
  schemas: [{ event: { anyOf: [EVENT_SCHEMA, { type: 'null' }] } }],
  output: {
    text: renderCapture,
    json: ({ event }, { redaction }) => ({ members: { event: event === null ? null : eventJson(event, redaction) } }),
    quiet: ({ event }) => (event === null ? [] : [String(event.sequence)]),
    notes: ({ notes }) => notes,
  },
  run: async (context, args) => {
    const id = await findSession(context, args.operand('session') ?? '');
    const folder = await folderOfFiles(context, id, workspaceOf(context, args));
    if (folder === undefined) throw new WorkspaceRefusedError('', 'is not recorded for this session');
    const typed = args.operands('path');
    if (!standsIn(context, folder)) refuseOtherFolder(context, typed, folder);
    const paths = (await typedPaths(context, typed, folder)).map(({ name }) => name);
    const tool = filledText(args, 'tool') ?? 'manual';
    const event = await context.store.captureToolCheckpoint(id, folder, tool, paths);
    return { event, notes: notesOf(context, event, paths, folder) };
  },
});

/**
 * Refuses a path that is not in the folder of the session but in the present one, outside of it: recorded as absent,
 * what is made of that name in the session's folder would be removed by a rewind.
 */
function refuseOtherFolder({ cwd }: CommandContext, paths: readonly string[], folder: string): void {
  for (const path of paths) {
    const wanted = resolve(folder, path);
    const typed = resolve(cwd, path);
    if (wanted === typed || isThere(wanted) || !isThere(typed)) continue;
    const message = `There is no ${JSON.stringify(path)} in ${folder}, only in the present folder`;
    throw new FileNotFoundError(path, message, 'Name the folder with --workspace.');
  }
}

function notesOf(
  { store }: CommandContext,
  event: StoredEvent | null,
  paths: readonly string[],
  folder: string,
): readonly string[] {
  if (!store.checkpointsEnabled()) return ['Nothing was recorded: checkpoints are off (ZERO_CHECKPOINTS).'];
  const recorded = new Set(event === null ? [] : decodeCheckpoint(event).files.map(({ path }) => path));
  const folders = paths.filter((path) => isFolder(resolve(folder, path)));
  const left = folders.filter((path) => !recorded.has(path));
  return left.map((path) => `${path} is a folder: name the files in it.`);
}
