import { isAbsolute, posix, resolve } from 'node:path';
import { FileNotFoundError } from '../errors.js';
import type { FileState } from '../model/event.js';
import type { FileAt } from '../store/read-checkpoints.js';
import type { ParsedArguments } from './arguments.js';
import type { OptionSpec } from './command.js';
import type { CommandContext } from './context.js';
import { filledText } from './metadata-flags.js';
import type { Redaction } from './redaction.js';
import type { JsonMembers, JsonView } from './render/json.js';

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
  return session?.cwd === '' ? undefined : session?.cwd;
}

/**
 * Gives the files that paths name, a folder naming all that is in it; all files when no path is given.
 * @param folder - What absolute paths are taken to lie in.
 * @throws {@link FileNotFoundError} (`FILE_NOT_FOUND`) for a path that no checkpoint names.
 */
export function pickFiles(
  files: readonly FileAt[],
  paths: readonly string[],
  folder: string | undefined,
): readonly FileAt[] {
  if (paths.length === 0) return files;
  const picked = new Set<FileAt>();
  for (const path of paths) {
    const name = nameInFolder(path, folder);
    const found = files.filter((file) => isAt(file.path, name) || isAt(file.resolved, name));
    if (found.length === 0) {
      const message = `No checkpoint of this session names ${JSON.stringify(path)}`;
      throw new FileNotFoundError(path, message, 'See what they name with: zero-sessions checkpoint list');
    }
    for (const file of found) picked.add(file);
  }
  return files.filter((file) => picked.has(file));
}

/** Gives a path as checkpoints name it: from the folder of the session, without `.` and `..`. */
export function nameInFolder(path: string, folder: string | undefined): string {
  const isInside = isAbsolute(path) && folder !== undefined && isAt(posix.normalize(path), posix.normalize(folder));
  const name = posix.normalize(isInside ? posix.relative(folder, path) : path).replace(/\/+$/, '');
  return name === '' ? '.' : name;
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
