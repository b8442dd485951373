import { createHash } from 'node:crypto';
import { errnoOf, StalePlanError } from '../../errors.js';
import { createFile, syncFile } from '../../fs/durable-file.js';
import type { FileSystem, FolderHandle } from '../../fs/file-system.js';
import { writeFully } from '../../fs/jsonl.js';
import { readChunks } from '../../fs/read-chunks.js';
import type { FileState } from '../../model/event.js';
import type { BlobHash } from '../../model/ids.js';
import { stagedBeside } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { DEFAULT_FOLDER_MODE, FILE_MODE, TEMP_PREFIX } from '../base/layout.js';
import type { LockedSession } from '../parts/locked-session.js';
import type { Workspace } from './workspace.js';

const DEFAULT_FILE_MODE = 0o644;
/** What the system says of a path on which a folder is no longer there. */
const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * New contents laid beside the files that they are for, until one rename puts each into place. Their names derive from
 * the id of the rewind and the place of the file in its intent, so that recovery finds them.
 */
export class StagedFiles {
  readonly #session: LockedSession;
  readonly #fs: FileSystem;
  readonly #workspace: Workspace;
  readonly #id: string;
  readonly #places: ReadonlyMap<string, number>;
  readonly #paths: ReadonlySet<string>;

  /** @param intent - The id of the rewind, and the paths of its files in the order of its intent. */
  constructor(
    session: LockedSession,
    workspace: Workspace,
    intent: { readonly id: string; readonly paths: readonly string[] },
  ) {
    this.#session = session;
    this.#fs = session.deps.fs;
    this.#workspace = workspace;
    this.#id = intent.id;
    this.#places = new Map(intent.paths.map((path, place) => [path, place]));
    this.#paths = new Set(intent.paths);
  }

  /** The name of what is staged for a file, known by its path in the intent. */
  nameFor(path: string): string {
    return `${TEMP_PREFIX}${this.#id}-${this.#places.get(path)}`;
  }

  /** The path that it is staged beside: the file's own, or that of a folder above it which may not be one yet. */
  besideOf({ resolved }: Pick<FileChange, 'resolved'>): string {
    return stagedBeside(resolved, this.#paths);
  }

  /**
   * Lays the wanted content of a file beside it, synced; `STALE_PLAN` when its blob changed since the plan was made.
   */
  stage(change: FileChange): void {
    const { path, resolved, wanted, mtimeMs } = change;
    const beside = this.besideOf(change);
    const modes = modesAbove(change, beside);
    this.#workspace.makingFolderOf(beside, DEFAULT_FOLDER_MODE, modes, (folder, name) => {
      const temp = `${folder.path}/${this.nameFor(path)}`;
      if (wanted.kind === 'link') {
        this.#fs.symlink(wanted.target, temp);
        // The time tells whether somebody else changed a file: what is rolled back has its own again.
        if (mtimeMs !== undefined) this.#fs.setModified(temp, mtimeMs);
      } else if (wanted.kind === 'stored') {
        const known = resolved === beside ? this.#presentMode(folder, name) : DEFAULT_FILE_MODE;
        this.#stageContent(temp, wanted, { mode: wanted.mode > 0 ? wanted.mode : known, mtimeMs });
      }
    });
  }

  /** Removes what may be staged for a file; it throws where that cannot be looked at or removed. */
  unstage(change: Pick<FileChange, 'path' | 'resolved'>): void {
    try {
      this.#workspace.inFolderOf(this.besideOf(change), (folder) => {
        const entry = `${folder.path}/${this.nameFor(change.path)}`;
        if (this.#fs.lstat(entry) === undefined) return;
        this.#fs.unlink(entry);
        // Before the intent goes: nobody looks for it afterwards.
        folder.sync();
      });
    } catch (error) {
      // A folder that is not what it was holds nothing of ours; one that could not be looked at may.
      const errno = errnoOf(error);
      if (errno === undefined || !NOT_THERE.has(errno)) throw error;
    }
  }

  // Without a recorded mode the file keeps the one that it has.
  #presentMode(folder: FolderHandle, name: string): number {
    const stat = this.#fs.lstat(`${folder.path}/${name}`);
    return stat?.kind === 'file' ? stat.mode & 0o777 : DEFAULT_FILE_MODE;
  }

  #stageContent(
    tempPath: string,
    wanted: FileState & { readonly kind: 'stored' },
    { mode, mtimeMs }: { readonly mode: number; readonly mtimeMs: number | undefined },
  ): void {
    const fs = this.#fs;
    if (wanted.hash === undefined) throw new Error(`planned to restore from ${wanted.blob}, which is no hash`);
    for (const place of this.#session.blobs.places(wanted.hash)) {
      if (!this.#copyVerified(place, tempPath, wanted.hash)) continue;
      const target = fs.openAppend(tempPath);
      try {
        fs.fchmod(target, mode);
        if (mtimeMs !== undefined) fs.setModified(tempPath, mtimeMs);
        syncFile(fs, target, tempPath);
      } finally {
        fs.close(target);
      }
      return;
    }
    throw new StalePlanError(`Blob ${wanted.hash} changed while it was restored`);
  }

  /** Copies a blob, and tells whether it is what its name says; else nothing is left of the copy. */
  #copyVerified(from: string, to: string, expected: BlobHash): boolean {
    const fs = this.#fs;
    const hash = createHash('sha256');
    const source = fs.openRead(from);
    try {
      createFile(fs, to, new Uint8Array(0), FILE_MODE);
      const target = fs.openAppend(to);
      try {
        for (const chunk of readChunks(fs, source)) {
          hash.update(chunk);
          writeFully(fs, target, chunk);
        }
      } finally {
        fs.close(target);
      }
    } finally {
      fs.close(source);
    }
    if (hash.digest('hex') === expected) return true;
    fs.unlink(to);
    return false;
  }
}

// Of the modes, which are of the innermost folders, those of the folders that what is staged is in.
function modesAbove({ resolved, folderModes = [] }: FileChange, beside: string): readonly number[] {
  const inner = resolved.split('/').length - beside.split('/').length;
  return folderModes.slice(0, Math.max(0, folderModes.length - inner));
}
