import { errnoOf } from '../../errors.js';
import type { FileKind } from '../../fs/file-system.js';
import { sessionIdOfFolder } from '../../model/ids.js';
import type { StoreDeps } from '../base/deps.js';
import {
  BLOBS_DIR,
  CHECKPOINTS_DIR,
  EVENTS_FILE,
  KEEP_DIR,
  LOCK_FILE,
  LOCKS_DIR,
  METADATA_FILE,
  NEW_PREFIX,
  SEARCH_INDEX_FILE,
  sessionPaths,
  TEMP_PREFIX,
} from '../base/layout.js';

/** Something in a store that is no session and no part of one: a copy, say, or what an interrupted program left. */
export interface LeftOver {
  /** From the root. */
  readonly path: string;
  readonly kind: FileKind;
}

/** What is in the making belongs to somebody for this long, milliseconds. */
const MAKING_MS = 3_600_000;
const FILES_OF_SESSION = [METADATA_FILE, EVENTS_FILE, LOCK_FILE, SEARCH_INDEX_FILE];
const IN_SESSION: ReadonlySet<string> = new Set([...FILES_OF_SESSION, CHECKPOINTS_DIR, KEEP_DIR]);
const BLOB_NAME = /^[0-9a-f]{64}$/;

/** Finds what in a store is no session, as far as a listing sees it: in the root, and in folders without metadata. */
export function findLeftOvers(deps: StoreDeps): readonly LeftOver[] {
  return leftOvers(deps, { inSessions: false });
}

/** Finds all of {@link findLeftOvers}, and what lies in the folders of sessions besides what belongs there. */
export function findAllLeftOvers(deps: StoreDeps): readonly LeftOver[] {
  return [...leftOvers(deps, { inSessions: true })].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function leftOvers(deps: StoreDeps, { inSessions }: { readonly inSessions: boolean }): readonly LeftOver[] {
  const isThere = (path: string): boolean => deps.fs.lstat(path) !== undefined;
  const inRoot = listed(deps, '').filter(({ path }) => path !== LOCKS_DIR && !isInTheMaking(deps, path));
  return inRoot.flatMap((entry) => {
    if (entry.kind !== 'directory' || sessionIdOfFolder(entry.path) === undefined) return [entry];
    const { metadata, events } = sessionPaths(`${deps.root}/${entry.path}`);
    if (isThere(metadata)) return inSessions ? foundInSession(deps, entry.path) : [];
    if (isThere(events)) return foundInSession(deps, entry.path);
    // A folder that is empty but for a lock file is a claim on its id, and no left-over.
    return listed(deps, entry.path).some(({ path }) => path !== `${entry.path}/${LOCK_FILE}`) ? [entry] : [];
  });
}

// Our hidden folders and files; Zero knows none of them, and neither do we after an hour.
function isInTheMaking(deps: StoreDeps, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!name.startsWith(NEW_PREFIX) && !name.startsWith(TEMP_PREFIX)) return false;
  const stat = deps.fs.lstat(`${deps.root}/${path}`);
  return stat !== undefined && deps.now().getTime() - stat.mtimeMs <= MAKING_MS;
}

function foundInSession(deps: StoreDeps, id: string): readonly LeftOver[] {
  const isForeign = (isOurs: (name: string) => boolean) => (entry: LeftOver) =>
    !isOurs(entry.path.slice(entry.path.lastIndexOf('/') + 1)) && !isInTheMaking(deps, entry.path);
  const checkpoints = `${id}/${CHECKPOINTS_DIR}`;
  return [
    ...listed(deps, id).filter(isForeign((name) => IN_SESSION.has(name))),
    ...listed(deps, checkpoints).filter(isForeign((name) => name === BLOBS_DIR)),
    ...listed(deps, `${checkpoints}/${BLOBS_DIR}`).filter(isForeign((name) => BLOB_NAME.test(name))),
  ];
}

/** Lists a folder of the store; one that is none, or cannot be read, holds nothing that could be told. */
function listed({ fs, root }: StoreDeps, path: string): readonly LeftOver[] {
  const folder = path === '' ? root : `${root}/${path}`;
  try {
    if ((path === '' ? fs.stat(folder) : fs.lstat(folder))?.kind !== 'directory') return [];
    return fs.readdir(folder).map(({ name, kind }) => ({ path: path === '' ? name : `${path}/${name}`, kind }));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
