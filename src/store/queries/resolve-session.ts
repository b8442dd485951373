import type { SessionId } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { fullIdIn, resolveSelector } from '../../plan/selector.js';
import type { StoreDeps } from '../base/deps.js';
import { pathsOf } from '../parts/metadata-file.js';
import { type FolderTest, inWorkTreeOf } from '../workspace/work-tree.js';
import { listSessions, tellOfTimesAhead } from './list-sessions.js';

/** What a name can mean beside ids and titles. */
export interface NamingOptions {
  /** The folder that `here` is, absolute. */
  readonly here?: string | undefined;
  /** The title of a session as it is shown to a person, uncut: what is printed can be typed. */
  readonly shownTitle?: ((session: SessionMetadata) => string) | undefined;
}

/** Finds the session that a name means. For a full id only names of folders are read, otherwise all metadata. */
export function resolveSession(deps: StoreDeps, text: string, { here, shownTitle }: NamingOptions): SessionId {
  const id = fullIdIn(text);
  if (id !== undefined && hasFolder(deps, id)) return id;
  let isInTree: FolderTest | undefined;
  const isHere = (folder: string) => (session: SessionMetadata) => {
    isInTree ??= inWorkTreeOf(deps, folder); // only for a name that asks
    return isInTree(session.cwd);
  };
  const known = listSessions(deps);
  const found = resolveSelector(text, known, { isHere: here === undefined ? undefined : isHere(here), shownTitle });
  const named = known.sessions.filter(({ sessionId }) => sessionId === found);
  tellOfTimesAhead(deps, named);
  return found;
}

// By the names in the root, not by asking for the path: some file systems would take an id in another case for this one.
function hasFolder(deps: StoreDeps, id: SessionId): boolean {
  const { fs, root } = deps;
  const { metadata, events } = pathsOf(deps, id);
  if (fs.lstat(metadata) === undefined && fs.lstat(events) === undefined) return false;
  return fs.readdir(root).some(({ name, kind }) => name === id && kind === 'directory');
}
