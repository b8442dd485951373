import { errnoOf } from '../../errors.js';
import { type FileSystem, UnexpectedKindError } from '../../fs/file-system.js';
import { encodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { CheckpointFile, CheckpointPayload, StoredEvent } from '../../model/event.js';
import { parseSessionId, validSessionId } from '../../model/ids.js';
import { encodeRecord } from '../../model/json.js';
import { foldersAbove } from '../../plan/rewind/changed-shape.js';
import type { StoreDeps } from '../base/deps.js';
import { DEFAULT_FOLDER_MODE } from '../base/layout.js';
import { orStoreError } from '../base/system-errors.js';
import type { LockedSession } from '../parts/locked-session.js';
import { requireSession } from '../parts/session-folder.js';
import { withSession } from '../recovery/session-lock.js';
import { openWorkspace } from '../workspace/open-workspace.js';
import type { Workspace } from '../workspace/workspace.js';

/** The files that a tool is about to change. */
interface CaptureInput {
  readonly workspaceRoot: string;
  readonly tool: string;
  readonly paths: readonly string[];
}

/** Stores what is at these paths, before a tool changes it, and appends a `session_checkpoint` event that names it. */
export async function captureToolCheckpoint(
  deps: StoreDeps,
  sessionId: string,
  { workspaceRoot, tool, paths }: CaptureInput,
): Promise<StoredEvent | null> {
  const id = parseSessionId(sessionId);
  requireSession(deps, id);
  if (!deps.checkpoints.enabled || paths.length === 0) return null;
  const workspace = openWorkspace(deps, workspaceRoot);
  // Blobs and event under one lock: nobody sees a blob that no event names.
  return withSession(deps, id, (session) => {
    session.sealedTail();
    const files = paths.flatMap((path) => capturePath(session, workspace, path));
    if (files.length === 0) return null;
    const payload = encodeRecord({ ...encodeCheckpoint(tool, files) });
    const [event] = session.append([{ type: 'session_checkpoint', payload }]);
    return event ?? null;
  });
}

/** As {@link captureToolCheckpoint} without the event, which the caller must append soon. */
export async function snapshotForCheckpoint(
  deps: StoreDeps,
  sessionId: string,
  { workspaceRoot, tool, paths }: CaptureInput,
): Promise<{ readonly ok: boolean; readonly payload: CheckpointPayload | null }> {
  // The reference answers a malformed id with nothing captured, not with an error.
  if (!validSessionId(sessionId)) return { ok: false, payload: null };
  const id = parseSessionId(sessionId);
  requireSession(deps, id);
  if (!deps.checkpoints.enabled || paths.length === 0) return { ok: false, payload: null };
  const workspace = openWorkspace(deps, workspaceRoot);
  return withSession(deps, id, (session) => {
    const files = paths.flatMap((path) => capturePath(session, workspace, path));
    return files.length === 0 ? { ok: false, payload: null } : { ok: true, payload: encodeCheckpoint(tool, files) };
  });
}

/** The entries for one path: none for a folder, two for a link to a file inside. */
function capturePath(session: LockedSession, workspace: Workspace, given: string): readonly CheckpointFile[] {
  const { deps } = session;
  const path = given.startsWith('/') ? (workspace.relativeOf(given) ?? given) : given;
  try {
    const { where } = workspace.locate(path);
    if (where.kind === 'root') return [];
    if (where.kind !== 'inside') return [skipped(path, 0)];
    if (where.missingFolders > 0) return [{ path, state: { kind: 'absent', newDirs: where.missingFolders } }];
    const files = workspace.inFolderOf(where.path, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      const stat = deps.fs.lstat(entry);
      if (stat === undefined) return undefined;
      if (stat.kind === 'directory') return [];
      if (stat.kind === 'other') return [skipped(path, 0)];
      const folderModes = unusualModesAbove(deps.fs, workspace, where.path);
      if (stat.kind === 'link') {
        const link: CheckpointFile = { path, state: { kind: 'link', target: deps.fs.readlink(entry) }, folderModes };
        return [...captureBehindLink(session, workspace, where.path), link];
      }
      return [{ ...captureFile(session, entry, path), folderModes }];
    });
    return files ?? [{ path, state: { kind: 'absent', newDirs: 0 } }];
  } catch (error) {
    if (isRefusedBySystem(error)) return [skipped(path, 0)];
    throw error;
  }
}

// A tool may write through a link, so a regular file inside that it leads to is captured as well, before the link.
function captureBehindLink(session: LockedSession, workspace: Workspace, link: string): readonly CheckpointFile[] {
  const behind = fileBehindLink(session.deps, workspace, link);
  if (behind === undefined) return [];
  const file = workspace.inFolderOf(behind, (folder, name) => captureFile(session, `${folder.path}/${name}`, behind));
  return file === undefined ? [] : [file];
}

// Should the folders of a file be removed, they come back as private as they were. The usual ones need no word.
function unusualModesAbove(fs: FileSystem, workspace: Workspace, path: string): readonly number[] {
  const modes = foldersAbove(path).map((folder) => (fs.lstat(`${workspace.real}/${folder}`)?.mode ?? 0) & 0o777);
  const outermost = modes.findLastIndex((mode) => mode !== DEFAULT_FOLDER_MODE);
  return modes.slice(0, outermost + 1).reverse();
}

function fileBehindLink(deps: StoreDeps, workspace: Workspace, link: string): string | undefined {
  try {
    const real = deps.fs.realpath(`${workspace.real}/${link}`);
    const inside = workspace.relativeOf(real);
    if (inside === undefined || inside === '') return undefined;
    const located = workspace.locate(inside);
    return located.where.kind === 'inside' && deps.fs.lstat(real)?.kind === 'file' ? inside : undefined;
  } catch (error) {
    if (isRefusedBySystem(error)) return undefined;
    throw error;
  }
}

function captureFile(session: LockedSession, entry: string, path: string): CheckpointFile {
  const { fs, checkpoints, warn } = session.deps;
  let fd: number;
  try {
    fd = fs.openRead(entry);
  } catch (error) {
    if (error instanceof UnexpectedKindError || isRefusedBySystem(error)) return skipped(path, 0);
    throw error;
  }
  try {
    const stat = fs.fstat(fd);
    if (stat.size > checkpoints.maxBytes) return skipped(path, stat.size);
    if (stat.nlink > 1) {
      const message = `${path} has ${stat.nlink} names; a restore gives this one a file of its own`;
      warn({ code: 'HARD_LINKED', sessionId: session.id, message });
    }
    const stored = orStoreError(() => session.blobs.storeFile(fd, checkpoints.maxBytes));
    if (stored === undefined) return skipped(path, fs.fstat(fd).size);
    const { hash, bytes } = stored;
    return { path, state: { kind: 'stored', blob: hash, hash, bytes, mode: stat.mode & 0o777 } };
  } finally {
    fs.close(fd);
  }
}

function skipped(path: string, bytes: number): CheckpointFile {
  return { path, state: { kind: 'skipped', bytes } };
}

// What the workspace refuses is skipped; what the store refuses (a full disk) is an error of the capture.
const REFUSED: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ELOOP', 'ENOTDIR', 'ENOENT', 'ENAMETOOLONG']);

function isRefusedBySystem(error: unknown): boolean {
  return REFUSED.has(errnoOf(error));
}
