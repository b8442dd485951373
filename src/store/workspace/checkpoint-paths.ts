import type { FileKind } from '../../fs/file-system.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import { type FileState, OWN_TOOL_PREFIX } from '../../model/event.js';
import type { OutlinedPayload } from '../../model/log-outline.js';
import type { LocatedPath, Workspace } from './workspace.js';

/** Finds a path that the checkpoint with this sequence names. */
export type FindPath = (path: string, sequence: number) => LocatedPath;

interface NamedState {
  readonly sequence: number;
  readonly kind: FileState['kind'];
}

/**
 * Makes a way to find where the paths of checkpoints lead in a workspace as it is now. What checkpoints name is neither
 * followed nor in the way where it was not there when a path below it was named: `d/x` is not what `d` leads to if `d`
 * became a link, or a file, since. What rewinds of ours name is meant as it is written: they followed none of their
 * paths.
 */
export function pathFinder(workspace: Workspace, checkpoints: readonly OutlinedPayload[]): FindPath {
  const found = new Map<string, { readonly located: LocatedPath; readonly isPlain: boolean }>();
  const find = (path: string): { readonly located: LocatedPath; readonly isPlain: boolean } => {
    const known = found.get(path);
    if (known !== undefined) return known;
    let isPlain = true;
    const located = workspace.locate(path, () => {
      isPlain = false; // something is in the way, or a link
      return false;
    });
    found.set(path, { located, isPlain });
    return { located, isPlain };
  };
  const named = statesByPath(checkpoints, (path) => find(path).located.resolved);
  const own = ownNames(checkpoints);
  return (path, sequence) => {
    const { located, isPlain } = find(path);
    if (isPlain) return located;
    const isOwn = own.get(path)?.has(sequence) === true;
    return workspace.locate(path, (at, kind) => (isOwn && own.has(at)) || wasGone(named.get(at), kind, sequence));
  };
}

/** Gives the paths that checkpoints of ours name, with the sequences of these. */
function ownNames(checkpoints: readonly OutlinedPayload[]): ReadonlyMap<string, ReadonlySet<number>> {
  const names = new Map<string, Set<number>>();
  for (const checkpoint of checkpoints) {
    const { tool, files } = decodeCheckpoint(checkpoint);
    if (!tool.startsWith(OWN_TOOL_PREFIX)) continue;
    for (const { path } of files) names.set(path, (names.get(path) ?? new Set()).add(checkpoint.sequence));
  }
  return names;
}

function statesByPath(
  checkpoints: readonly OutlinedPayload[],
  resolve: (path: string) => string,
): ReadonlyMap<string, readonly NamedState[]> {
  const named = new Map<string, NamedState[]>();
  for (const checkpoint of checkpoints) {
    for (const { path, state } of decodeCheckpoint(checkpoint).files) {
      const states = named.get(resolve(path));
      const entry = { sequence: checkpoint.sequence, kind: state.kind };
      if (states === undefined) named.set(resolve(path), [entry]);
      else states.push(entry);
    }
  }
  return named;
}

// Nothing is below a file, so a path below one that the session works on is meant as it is written. Below a link it may
// be meant as what the link leads to, unless the path is known to have been no link at that time.
function wasGone(
  states: readonly NamedState[] | undefined,
  kind: Exclude<FileKind, 'directory'>,
  sequence: number,
): boolean {
  if (kind !== 'link') return states !== undefined;
  const next = states?.find((state) => state.sequence >= sequence && state.kind !== 'skipped');
  return next !== undefined && next.kind !== 'link';
}
