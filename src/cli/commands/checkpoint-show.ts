import { FileNotFoundError, PayloadDamagedError } from '../../errors.js';
import type { FileAt } from '../../store/queries/read-checkpoints.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type ParsedArguments, parseFilled } from '../input/arguments.js';
import { findPosition } from '../input/find-position.js';
import { findSession } from '../input/find-session.js';
import { typedPaths } from '../input/typed-path.js';
import { type CheckpointShowView, renderContent, renderFilesAt } from '../render/checkpoint.js';
import { redactedBytes, textOf } from '../render/file-text.js';
import {
  CHECKPOINT_SCHEMA,
  FILE_SCHEMA,
  fileJson,
  folderOfFiles,
  pickFiles,
  WORKSPACE_FLAG,
  workspaceOf,
} from './checkpoint-files.js';
import { checkpointJson } from './checkpoint-list.js';

export const checkpointShow = defineCommand<CheckpointShowView>({
  description:
    'Lists every file that some checkpoint names, as it was just after the event at the position. With a path: prints ' +
    'what that file held; into a pipe byte for byte, but for secrets (--raw gives them as well).',
  examples: [
    'zero-sessions checkpoint show latest last-checkpoint',
    'zero-sessions checkpoint show latest 12 src/login.ts --raw > login.ts',
  ],
  arguments: [
    { name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' },
    { name: '<position>', description: '12, an event id, -2, last-checkpoint, or 0', value: 'position' },
    { name: '[path]', description: 'one file', value: 'file' },
  ],
  options: [{ flags: '--raw', description: 'the bytes of one file as they were, secrets and all' }, WORKSPACE_FLAG],
  schemas: [
    {
      checkpoint: { anyOf: [CHECKPOINT_SCHEMA, { type: 'null' }] },
      files: { type: 'array', items: FILE_SCHEMA },
    },
  ],
  output: {
    verbatim: ({ bytes }) => bytes,
    hiddenWarning: 'What looks like a secret was replaced by [REDACTED]; --raw gives one file as it was.',
    text: (view, page) => (view.content === undefined ? renderFilesAt(view, page) : renderContent(view.content, page)),
    json: ({ checkpoint, files, content }, { redaction }) => ({
      members: {
        checkpoint: checkpoint === undefined ? null : checkpointJson(checkpoint, redaction),
        files: files.map(({ path, state }) => ({
          ...fileJson(path, state, redaction),
          ...(content?.kind === 'file' ? { content: shownText(content.bytes, redaction.text) } : {}),
        })),
      },
    }),
    jsonl: ({ files }, { redaction }) => files.map(({ path, state }) => fileJson(path, state, redaction)),
    quiet: ({ files }, { redaction }) => files.map(({ path }) => redaction.text(path)),
    notes: ({ files, content, sessionId }) => {
      if (files.length === 0) return [`Session ${sessionId} has no checkpoints.`];
      return content?.kind === 'link' ? [`It was a symbolic link to ${content.target}.`] : [];
    },
  },
  run: runShow,
});

async function runShow(context: CommandContext, args: ParsedArguments): Promise<CheckpointShowView> {
  const { store, globals, page } = context;
  const sessionId = await findSession(context, args.operand('session') ?? '');
  const text = parseFilled(args.operand('position') ?? '', 'The position');
  const position = await findPosition(context, sessionId, text, { allowNone: true });
  const workspace = workspaceOf(context, args);
  const path = args.operand('path');
  const all = await store.filesAt(sessionId, position, workspace);
  const folder = await folderOfFiles(context, sessionId, workspace);
  const [meant] = await typedPaths(context, path === undefined ? [] : [path], folder);
  const files = pickFiles(all, meant === undefined ? [] : [meant]);
  const checkpoint = (await store.listCheckpoints(sessionId)).findLast(({ sequence }) => sequence <= position);
  const common = { sessionId, position, checkpoint, files };
  const isRaw = args.flag('raw');
  if (meant === undefined && isRaw) throw new UsageError('--raw needs a path', 'Name one file.');
  if (meant === undefined) return { ...common, content: undefined, bytes: undefined };
  const { name } = meant;
  const file = theOne(files, name);
  if (file === undefined) {
    const inside = files.filter((each) => each.path !== name && each.resolved !== name);
    const names = inside.map((each) => JSON.stringify(each.path));
    const shown = names.length > 5 ? [...names.slice(0, 5), `${names.length - 5} more`] : names;
    throw new UsageError(`${JSON.stringify(path)} was a folder of ${shown.join(', ')}`, 'Name one of the files.');
  }
  if (globals.format === 'jsonl') throw new UsageError('One file is no list', 'Give --json instead of --jsonl.');
  const content = await contentOf(context, sessionId, position, file, workspace);
  const isPiped = content.kind === 'file' && globals.format === 'text' && page.width === undefined;
  return {
    ...common,
    files: [file],
    content,
    bytes: isRaw ? bytesOf(content) : isPiped ? redactedBytes(content.bytes, page.redaction) : undefined,
  };
}

function bytesOf(content: NonNullable<CheckpointShowView['content']>): Uint8Array {
  return content.kind === 'link' ? Buffer.from(content.target) : content.bytes;
}

/** Gives the file of a name, which can be that of a folder as well: what was a file may have been one at another time. */
function theOne(files: readonly FileAt[], name: string): FileAt | undefined {
  if (files.length === 1) return files[0];
  return files.find(({ path, resolved, state }) => (path === name || resolved === name) && state.kind !== 'absent');
}

async function contentOf(
  { store }: CommandContext,
  sessionId: string,
  position: number,
  file: FileAt,
  workspace: string | undefined,
): Promise<NonNullable<CheckpointShowView['content']>> {
  const content = await store.readFileAt(sessionId, file, workspace);
  if (content.kind === 'file' || content.kind === 'link') return content;
  const where = position === 0 ? 'before the first event' : `just after event ${position}`;
  if (content.kind === 'absent') throw new FileNotFoundError(file.path, `There was no ${file.path} ${where}`);
  if (file.state.kind !== 'stored') {
    throw new FileNotFoundError(file.path, `What ${file.path} was ${where} is not known: it ${content.reason}`);
  }
  throw new PayloadDamagedError(`${sessionId}:${position}`, 'the files after it', `${file.path}: ${content.reason}`);
}

function shownText(bytes: Uint8Array, redact: (text: string) => string): string | null {
  const text = textOf(bytes);
  return text === undefined ? null : redact(text);
}
