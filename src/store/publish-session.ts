import { SessionExistsError } from '../errors.js';
import { createFile, ensureFolder, removeQuietly, syncFolder } from '../fs/durable-file.js';
import type { SessionId } from '../model/ids.js';
import { encodeMetadata, type MetadataDocument } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';
import { FILE_MODE, FOLDER_MODE, NEW_PREFIX, type SessionPaths, sessionPaths } from './layout.js';
import { pathsOf } from './metadata-file.js';

/** A folder without metadata and log is a claim on its id for this long, milliseconds (FORMAT.md, 5). */
const CLAIM_MS = 60_000;
/** A hidden folder in which nothing was made for this long belongs to nobody any more, milliseconds. */
const ABANDONED_MS = 3_600_000;

/**
 * Makes a session appear whole: it is built in a hidden folder, the id is claimed with mkdir, and one rename shows it.
 * @param fill - Puts log and blobs into the hidden folder, synced; the metadata it gives are written last.
 * @throws SessionExistsError (`SESSION_EXISTS`) when the id is in use; nothing is left behind then.
 * @see FORMAT.md, 5, "Sessions appear whole"; RELIABILITY.md, 2.2
 */
export function publishSession(
  deps: StoreDeps,
  id: SessionId,
  fill: (hidden: SessionPaths) => MetadataDocument,
): MetadataDocument {
  const { fs } = deps;
  deps.assertOwner();
  ensureRoot(deps);
  refuseUsedId(deps, id);
  sweepHidden(deps);
  const hidden = sessionPaths(`${deps.root}/${NEW_PREFIX}${deps.newId()}`);
  fs.mkdir(hidden.folder, FOLDER_MODE);
  let document: MetadataDocument;
  try {
    document = fill(hidden);
    createFile(fs, hidden.metadata, encodeMetadata(document), FILE_MODE);
    syncFolder(fs, hidden.folder);
    claimId(deps, id);
  } catch (error) {
    removeTree(deps, hidden.folder);
    throw error;
  }
  try {
    fs.rename(hidden.folder, pathsOf(deps, id).folder);
  } catch (error) {
    removeTree(deps, hidden.folder);
    releaseClaim(deps, id);
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
  for (const folder of missing) ensureFolder(deps.fs, folder, FOLDER_MODE);
}

/** Removes a folder of ours with all below it; what cannot be removed stays for a sweep. */
export function removeTree(deps: StoreDeps, folder: string): void {
  try {
    for (const entry of deps.fs.readdir(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.kind === 'directory') removeTree(deps, path);
      else removeQuietly(deps.fs, path);
    }
    deps.fs.rmdir(folder);
  } catch {
    // Hidden from everybody, and older than an hour it is swept.
  }
}

function refuseUsedId(deps: StoreDeps, id: SessionId): void {
  if (deps.fs.lstat(pathsOf(deps, id).folder) !== undefined && !isAbandoned(deps, id)) throw new SessionExistsError(id);
}

/** Removes what sessions left that were never shown because their process ended (RELIABILITY.md, 2.5). */
function sweepHidden(deps: StoreDeps): void {
  for (const { name, kind } of deps.fs.readdir(deps.root)) {
    if (kind !== 'directory' || !name.startsWith(NEW_PREFIX)) continue;
    const path = `${deps.root}/${name}`;
    const stat = deps.fs.lstat(path);
    if (stat !== undefined && deps.now().getTime() - stat.mtimeMs > ABANDONED_MS) removeTree(deps, path);
  }
}

// mkdir is the claim, against Zero as well as against ourselves.
function claimId(deps: StoreDeps, id: SessionId): void {
  const { folder } = pathsOf(deps, id);
  try {
    deps.fs.mkdir(folder, FOLDER_MODE);
    return;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    if (!isAbandoned(deps, id)) throw new SessionExistsError(id, { cause: error });
  }
  clearAbandoned(deps, folder);
  deps.fs.mkdir(folder, FOLDER_MODE);
}

// What lies in an abandoned folder is not ours to delete: it is put aside. Mostly there is nothing in it.
function clearAbandoned(deps: StoreDeps, folder: string): void {
  try {
    deps.fs.rmdir(folder);
  } catch {
    deps.fs.rename(folder, `${deps.root}/.zs-aside-${deps.newId()}`);
  }
}

function releaseClaim(deps: StoreDeps, id: SessionId): void {
  try {
    deps.fs.rmdir(pathsOf(deps, id).folder);
  } catch {
    // Empty, and after a minute it blocks nobody.
  }
}

/** A folder without metadata and log that is older than a minute: a create that never finished. */
function isAbandoned(deps: StoreDeps, id: SessionId): boolean {
  const paths = pathsOf(deps, id);
  const stat = deps.fs.lstat(paths.folder);
  if (stat?.kind !== 'directory') return false;
  if (deps.fs.lstat(paths.metadata) !== undefined || deps.fs.lstat(paths.events) !== undefined) return false;
  return deps.now().getTime() - stat.mtimeMs > CLAIM_MS;
}
