import { diffLines } from '../../plan/line-diff.js';
import { parsePosition } from '../../plan/position.js';
import type { FileAt, FileContent } from '../../store/queries/read-checkpoints.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { type ParsedArguments, parseFilled } from '../input/arguments.js';
import { findPosition } from '../input/find-position.js';
import { findSession } from '../input/find-session.js';
import { typedPaths } from '../input/typed-path.js';
import type { Redaction } from '../redaction.js';
import { type DiffView, diffText, type FileDiff, renderDiff } from '../render/diff.js';
import { textOf } from '../render/file-text.js';
import type { JsonMembers } from '../render/json.js';
import { EXIT_DAMAGED, EXIT_DONE } from '../report/exit-codes.js';
import { folderOfFiles, pickFiles, WORKSPACE_FLAG, workspaceOf } from './checkpoint-files.js';

export const checkpointDiff = defineCommand<DiffView>({
  description:
    'What became of the files that checkpoints name, from just after the event at the position until now, or until ' +
    '--to. Without a position: since just before the last checkpoint. A path that looks like a position is ./12.',
  examples: [
    'zero-sessions checkpoint diff latest',
    'zero-sessions checkpoint diff latest 12 src/login.ts',
    'zero-sessions checkpoint diff latest 0 --to 12',
  ],
  arguments: [
    { name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' },
    { name: '[position]', description: '12, an event id, -2, last-checkpoint, or 0', value: 'position' },
    { name: '[path...]', description: 'only these files', value: 'file' },
  ],
  options: [
    { flags: '--to <position>', description: 'until just after this event, instead of now', value: 'position' },
    WORKSPACE_FLAG,
  ],
  schemas: [
    {
      files: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'status', 'binary', 'diff'],
          properties: {
            path: { type: 'string' },
            status: { enum: ['added', 'deleted', 'modified', 'unknown'] },
            oldMode: { type: ['string', 'null'] },
            newMode: { type: ['string', 'null'] },
            binary: { type: 'boolean' },
            diff: { type: ['string', 'null'], description: 'unified; null when one of the two is no text' },
            reason: { type: ['string', 'null'] },
          },
        },
      },
    },
  ],
  output: {
    text: renderDiff,
    json: ({ files }, { redaction }) => ({ members: { files: files.map((file) => diffJson(file, redaction)) } }),
    jsonl: ({ files }, { redaction }) => files.map((file) => diffJson(file, redaction)),
    quiet: ({ files }, { redaction }) => files.map(({ path }) => redaction.text(path)),
    warnings: ({ files }) => files.filter(({ isDamaged }) => isDamaged).map(({ path, reason }) => `${path} ${reason}`),
    notes: diffNotes,
    exitCode: ({ files }) => (files.some(({ isDamaged }) => isDamaged) ? EXIT_DAMAGED : EXIT_DONE),
  },
  run: runDiff,
});

async function runDiff(context: CommandContext, args: ParsedArguments): Promise<DiffView> {
  const { store } = context;
  const first = args.operand('position');
  const begin = first !== undefined && isPosition(first) ? first : undefined;
  const paths = [...(first === undefined || begin !== undefined ? [] : [first]), ...args.operands('path')];
  const sessionId = await findSession(context, args.operand('session') ?? '');
  const positionOf = (text: string) => findPosition(context, sessionId, text, { allowNone: true });
  const from = await positionOf(begin ?? 'last-checkpoint');
  const to = args.text('to');
  const until = to === undefined ? undefined : await positionOf(parseFilled(to, '--to'));
  const workspace = workspaceOf(context, args);
  const folder = await folderOfFiles(context, sessionId, workspace);
  const meant = await typedPaths(context, paths, folder);
  const before = pickFiles(await store.filesAt(sessionId, from, workspace), meant);
  const later = until === undefined ? undefined : await store.filesAt(sessionId, until, workspace);
  const laterStates = new Map(later?.map((file) => [file.resolved, file]));
  const files: FileDiff[] = [];
  for (const file of before) {
    context.signal.throwIfAborted();
    const after = later === undefined ? { ...file, state: CURRENT } : (laterStates.get(file.resolved) ?? file);
    if (isSameState(file, after)) continue;
    const contents = [
      await read(context, sessionId, file, workspace),
      await read(context, sessionId, after, workspace),
    ];
    const diff = diffOf(file.path, contents[0] as ReadContent, contents[1] as ReadContent, context.page.redaction);
    if (diff !== undefined) files.push(diff);
  }
  return { sessionId, files, from, to: until };
}

function isPosition(text: string): boolean {
  try {
    parsePosition(text, { allowNone: true });
    return true;
  } catch {
    return false; // then it is a path
  }
}

const CURRENT = { kind: 'current' } as const;

function isSameState(a: FileAt, b: FileAt): boolean {
  if (a.state.kind !== b.state.kind) return false;
  if (a.state.kind === 'stored' && b.state.kind === 'stored') {
    return a.state.blob === b.state.blob && a.state.mode === b.state.mode;
  }
  if (a.state.kind === 'link' && b.state.kind === 'link') return a.state.target === b.state.target;
  return a.state.kind !== 'skipped';
}

type ReadContent = FileContent & { readonly isLost?: boolean };

async function read(
  { store }: CommandContext,
  sessionId: string,
  file: FileAt,
  workspace: string | undefined,
): Promise<ReadContent> {
  const content = await store.readFileAt(sessionId, file, workspace);
  return content.kind === 'unavailable' ? { ...content, isLost: file.state.kind === 'stored' } : content;
}

function diffOf(path: string, before: ReadContent, after: ReadContent, redaction: Redaction): FileDiff | undefined {
  const unknown = [before, after].find((content) => content.kind === 'unavailable');
  const oldMode = modeOf(before);
  const newMode = modeOf(after);
  const common = { path, oldMode, newMode, hunks: undefined, isHidden: false, reason: undefined, isDamaged: false };
  if (unknown?.kind === 'unavailable') {
    return { ...common, status: 'unknown', reason: unknown.reason, isDamaged: unknown.isLost === true };
  }
  const oldBytes = bytesOf(before);
  const newBytes = bytesOf(after);
  const isEqual = Buffer.compare(oldBytes, newBytes) === 0;
  if (isEqual && oldMode === newMode) return undefined;
  const status = oldMode === undefined ? 'added' : newMode === undefined ? 'deleted' : 'modified';
  const oldText = textOf(oldBytes);
  const newText = textOf(newBytes);
  if (oldText === undefined || newText === undefined) return { ...common, status };
  // Hidden before lines are compared: a secret may go over several.
  const hunks = diffLines(redaction.text(oldText), redaction.text(newText));
  return { ...common, status, hunks, isHidden: !isEqual && hunks.length === 0 };
}

function bytesOf(content: ReadContent): Uint8Array {
  if (content.kind === 'file') return content.bytes;
  return content.kind === 'link' ? Buffer.from(content.target) : new Uint8Array(0);
}

function modeOf(content: ReadContent): string | undefined {
  if (content.kind === 'link') return '120000';
  if (content.kind !== 'file') return undefined;
  return `100${(content.mode === 0 ? 0o644 : content.mode).toString(8).padStart(3, '0')}`;
}

function diffJson(file: FileDiff, redaction: Redaction): JsonMembers {
  const { path, status, oldMode, newMode, hunks, reason } = file;
  return {
    path: redaction.text(path),
    status,
    oldMode: oldMode ?? null,
    newMode: newMode ?? null,
    binary: hunks === undefined && status !== 'unknown',
    diff: hunks === undefined ? null : diffText({ ...file, path: redaction.text(path) }),
    reason: reason === undefined ? null : redaction.text(reason),
  };
}

function diffNotes({ files, sessionId }: DiffView): readonly string[] {
  if (files.length === 0) return [`No file of session ${sessionId} differs.`];
  return files.flatMap(({ path, isHidden, isDamaged, reason, status }) => {
    if (isHidden) return [`${path} differs only in what is hidden; --no-redact shows it.`];
    return status === 'unknown' && !isDamaged ? [`${path} ${reason}.`] : [];
  });
}
