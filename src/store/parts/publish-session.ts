import { errnoOf, SessionExistsError } from '../../errors.js';
import {
  createFile,
  ensureFolder,
  removeQuietly,
  removeTree,
  syncFolder,
  syncFolderOf,
} from '../../fs/durable-file.js';
import type { SessionId } from '../../model/ids.js';
import { encodeMetadata, type MetadataDocument } from '../../model/metadata.js';
import type { StoreDeps } from '../base/deps.js';
import {
  FILE_MODE,
  FOLDER_MODE,
  LOCK_FILE,
  longestPathIn,
  NEW_PREFIX,
  type SessionPaths,
  sessionPaths,
} from '../base/layout.js';
import { pathsOf } from './metadata-file.js';

/** An empty folder is a claim on its id for this long, milliseconds (FORMAT.md, 5). */
const CLAIM_MS = 60_000;
/** A hidden folder in which nothing was made for this long is nobody's any more, milliseconds. */
const ABANDONED_MS = 3_600_000;
/** What a rename says of a target that is no empty folder. */
const IN_USE: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);

/**
 * Makes a session appear whole: it is built in a hidden folder, the id is claimed with mkdir, and one rename shows it
 * (FORMAT.md, 5, "Sessions appear whole"). Where the id is in use nothing is left behind.
 * @param fill - Puts log and blobs into the hidden folder, synced; the metadata it gives are written last.
 */
export function publishSession(
  deps: StoreDeps,
  id: SessionId,
  fill: (hidden: SessionPaths) => MetadataDocument,
): MetadataDocument {
  const { fs } = deps;
  deps.assertOwner();
  // Where a path is too long the system says so for one that is not there, too: before there is half a session.
  fs.lstat(longestPathIn(pathsOf(deps, id)));
  ensureRoot(deps);
  refuseUsedId(deps, id);
  sweepHidden(deps);
  const hidden = sessionPaths(`${deps.root}/${NEW_PREFIX}${deps.newId()}`);
  fs.mkdir(hidden.folder, FOLDER_MODE);
  let document: MetadataDocument;
  let isNewClaim: boolean;
  try {
    document = fill(hidden);
    createFile(fs, hidden.metadata, encodeMetadata(document), FILE_MODE);
    syncFolder(fs, hidden.folder);
    isNewClaim = claimId(deps, id);
  } catch (error) {
    removeTree(deps.fs, hidden.folder);
    throw error;
  }
  try {
    fs.rename(hidden.folder, pathsOf(deps, id).folder);
  } catch (error) {
    removeTree(deps.fs, hidden.folder);
    if (IN_USE.has(errnoOf(error))) throw new SessionExistsError(id, { cause: error });
    if (isNewClaim) releaseClaim(deps, id);
    throw error;
  }
  syncFolder(fs, deps.root);
  return document;
}

/** Makes the root and the folders above it, private to the user. */
function ensureRoot(deps: StoreDeps): void {
  const missing: string[] = [];
  let path = deps.root;
  while (path !== '' && deps.fs.stat(path) === undefined) {
    missing.unshift(path);
    path = path.slice(0, path.lastIndexOf('/'));
  }
  const isNew = missing.length > 0 || deps.fs.readdir(deps.root).length === 0;
  if (isNew && path !== '') secureName(deps, path);
  for (const folder of missing) ensureFolder(deps.fs, folder, FOLDER_MODE);
}

// The last folder that is there may be from one who made the others and was killed before their names were synced.
function secureName(deps: StoreDeps, folder: string): void {
  try {
    syncFolderOf(deps.fs, folder);
  } catch (error) {
    // One above that we may not open is none that we made.
    const code = errnoOf(error);
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
  }
}

function refuseUsedId(deps: StoreDeps, id: SessionId): void {
  const { folder } = pathsOf(deps, id);
  const found = deps.fs.lstat(folder);
  if (found === undefined || (found.kind === 'directory' && isAbandoned(deps, folder))) return;
  throw new SessionExistsError(id);
}

/** Removes what sessions left that were never shown because their process ended (RELIABILITY.md, 2.5). */
function sweepHidden(deps: StoreDeps): void {
  for (const { name, kind } of deps.fs.readdir(deps.root)) {
    if (kind !== 'directory' || !name.startsWith(NEW_PREFIX)) continue;
    const path = `${deps.root}/${name}`;
    const stat = deps.fs.lstat(path);
    if (stat !== undefined && deps.now().getTime() - stat.mtimeMs > ABANDONED_MS) removeTree(deps.fs, path);
  }
}

/**
 * Claims an id with mkdir, against Zero as well as against ourselves, and tells whether the claim was made here. An
 * abandoned folder is a claim as it stands: of all who find it, the rename lets one over it.
 */
function claimId(deps: StoreDeps, id: SessionId): boolean {
  const { folder } = pathsOf(deps, id);
  try {
    deps.fs.mkdir(folder, FOLDER_MODE);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    if (!emptyAbandoned(deps, folder)) throw new SessionExistsError(id, { cause: error });
    return false;
  }
}

/** Whether a folder was abandoned; then nothing is left in it. */
function emptyAbandoned(deps: StoreDeps, path: string): boolean {
  if (deps.fs.lstat(path)?.kind !== 'directory') return false;
  // Judged and emptied through the open folder: at its path somebody else's session may appear at any moment.
  const folder = deps.fs.openFolder(path);
  try {
    if (!isAbandoned(deps, folder.path)) return false;
    removeQuietly(deps.fs, `${folder.path}/${LOCK_FILE}`);
    return true;
  } finally {
    folder.close();
  }
}

function releaseClaim(deps: StoreDeps, id: SessionId): void {
  try {
    deps.fs.rmdir(pathsOf(deps, id).folder);
  } catch {
    // Empty, and after a minute it blocks nobody.
  }
}

/** An empty folder, but for a lock file, that is older than a minute: a create that never finished. */
function isAbandoned(deps: StoreDeps, folder: string): boolean {
  const stat = deps.fs.stat(folder);
  if (stat === undefined || deps.fs.readdir(folder).some(({ name }) => name !== LOCK_FILE)) return false;
  return deps.now().getTime() - stat.mtimeMs > CLAIM_MS;
}
