import { posix, resolve } from 'node:path';
import { FileNotFoundError } from '../../errors.js';
import type { FileState } from '../../model/event.js';
import { recordedWorkspace } from '../../model/metadata.js';
import type { FileAt } from '../../store/queries/read-checkpoints.js';
import type { CommandContext, OptionSpec } from '../command.js';
import type { ParsedArguments } from '../input/arguments.js';
import { filledText } from '../input/metadata-flags.js';
import type { TypedPath } from '../input/typed-path.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers, JsonView } from '../render/json.js';

export const WORKSPACE_FLAG: OptionSpec = {
  flags: '--workspace <dir>',
  description: 'where the files are (else the folder of the session)',
  value: 'folder',
};

/** Gives the folder that `--workspace` names, absolute. */
export function workspaceOf({ cwd }: CommandContext, args: ParsedArguments): string | undefined {
  const folder = filledText(args, 'workspace');
  return folder === undefined ? undefined : resolve(cwd, folder);
}

/** Gives the folder that the files of a session are in: the one named, else the recorded one; undefined for neither. */
export async function folderOfFiles(
  { store }: CommandContext,
  sessionId: string,
  workspace: string | undefined,
): Promise<string | undefined> {
  if (workspace !== undefined) return workspace;
  const session = await store.get(sessionId).catch(() => null); // files can be looked at without metadata
  const recorded = recordedWorkspace(session ?? undefined);
  return recorded === '' ? undefined : recorded;
}

/**
 * Gives the files that paths name, a folder naming all that is in it; all files when no path is given.
 * @throws {@link FileNotFoundError} (`FILE_NOT_FOUND`) for a path that no checkpoint names.
 */
export function pickFiles(files: readonly FileAt[], paths: readonly TypedPath[]): readonly FileAt[] {
  if (paths.length === 0) return files;
  const picked = new Set<FileAt>();
  for (const path of paths) {
    const found = filesNamed(files, path.name);
    // The way to it may go through a link that was made since.
    const meant = found.length > 0 ? found : filesNamed(files, path.landed);
    if (meant.length === 0) throw notNamed(files, path);
    for (const file of meant) picked.add(file);
  }
  return files.filter((file) => picked.has(file));
}

function filesNamed(files: readonly FileAt[], name: string): readonly FileAt[] {
  return files.filter((file) => isAt(posix.normalize(file.path), name) || isAt(file.resolved, name));
}

function notNamed(files: readonly FileAt[], { typed, name }: TypedPath): FileNotFoundError {
  const isElsewhere = typed !== name && filesNamed(files, typed).length > 0;
  const hint = isElsewhere
    ? `There is ${typed} in the folder of the session: type it from there, or absolute.`
    : 'See what they name with: zero-sessions checkpoint list';
  return new FileNotFoundError(typed, `No checkpoint of this session names ${JSON.stringify(name)}`, hint);
}

function isAt(path: string, name: string): boolean {
  return name === '.' || path === name || path.startsWith(name.endsWith('/') ? name : `${name}/`);
}

/** Gives a file and what is known of its state as JSON: `state` is stored, absent, link, skipped or current. */
export function fileJson(path: string, state: FileAt['state'], redaction: Redaction): JsonMembers {
  return { path: redaction.text(path), state: state.kind, ...stateJson(state, redaction) };
}

function stateJson(state: FileState | { readonly kind: 'current' }, redaction: Redaction): JsonMembers {
  switch (state.kind) {
    case 'stored':
      return { blob: state.blob, bytes: state.bytes, mode: state.mode };
    case 'link':
      return { link: redaction.text(state.target) };
    case 'skipped':
      return state.bytes > 0 ? { bytes: state.bytes } : {};
    case 'absent':
    case 'current':
      return {};
    default:
      return state satisfies never;
  }
}

const COUNT = { type: 'integer', minimum: 0 } as const;

export const FILE_SCHEMA: JsonView = {
  type: 'object',
  required: ['path', 'state'],
  properties: {
    path: { type: 'string' },
    state: { enum: ['stored', 'absent', 'link', 'skipped', 'current'] },
    blob: { type: 'string' },
    bytes: COUNT,
    mode: COUNT,
    link: { type: 'string' },
    content: { type: ['string', 'null'], description: 'where one path was asked for; null when it is no text' },
  },
};

export const CHECKPOINT_SCHEMA: JsonView = {
  type: 'object',
  required: ['sequence', 'eventId', 'createdAt', 'tool', 'files'],
  properties: {
    sequence: { type: 'integer', minimum: 1 },
    eventId: { type: 'string' },
    createdAt: { type: 'string' },
    tool: { type: 'string' },
    files: { type: 'array', items: FILE_SCHEMA },
  },
};
