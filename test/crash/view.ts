import { ROOT_INODE, type Tree } from '../support/memory-file-system.js';
import { readLog, readStoreStrictly, type StrictSession, treeAsDisk } from './strict-reader.js';
import { ROOT, WORKSPACE } from './world.js';

/** What a disk says to whoever looks at it, as far as an operation promises anything. */
export interface View {
  readonly sessions: ReadonlyMap<string, StrictSession>;
  /** One line for each file, folder and link of the workspace. */
  readonly workspace: string;
  /** One line for each kept record: its name, whether its record is whole, which of the blobs that its log names are kept, the log. */
  readonly kept: string;
  /** Temporary files and hidden folders of ours. */
  readonly leftovers: readonly string[];
}

/** Reads a disk strictly. @throws Error that says what is wrong. */
export function viewOf(tree: Tree): View {
  const disk = treeAsDisk(tree);
  const sessions = readStoreStrictly(disk, ROOT);
  const kept: string[] = [];
  for (const { id } of sessions) {
    const folder = `${ROOT}/${id}/.zs/kept`;
    for (const record of disk.names(folder) ?? []) {
      const path = `${folder}/${record}/events.jsonl`;
      const { events, torn } = readLog(disk.bytes(path), id, path);
      if (torn !== '') throw new Error(`${path} is torn`);
      const log = events.map(({ line }) => line).join('|');
      const blobs = (disk.names(`${ROOT}/${id}/.zs/blobs`) ?? []).filter((name) => log.includes(name));
      const isTold = tellsOf(disk.bytes(`${folder}/${record}/record.json`), record);
      kept.push(`${id} ${record} ${isTold ? 'told' : 'untold'} ${blobs.join(',') || '-'} ${log}`);
    }
  }
  return {
    sessions: new Map(sessions.map((session) => [session.id, session])),
    workspace: linesBelow(tree, WORKSPACE)
      .filter((line) => !isTemp(line))
      .join('\n'),
    kept: kept.join('\n'),
    leftovers: [...linesBelow(tree, ROOT), ...linesBelow(tree, WORKSPACE)].filter(isTemp),
  };
}

/** Tells whether `record.json` is whole. */
function tellsOf(bytes: Uint8Array | undefined, record: string): boolean {
  try {
    return bytes !== undefined && JSON.parse(Buffer.from(bytes).toString()).rewindId === record;
  } catch {
    return false;
  }
}

function isTemp(line: string): boolean {
  return line.includes('.zs-tmp-') || line.includes('.zs-new-') || line.includes('.zs-aside-');
}

function linesBelow(tree: Tree, top: string): readonly string[] {
  const lines: string[] = [];
  function walk(number: number, path: string): void {
    const inode = tree.get(number);
    if (inode === undefined) return;
    if (path.startsWith(`${top}/`)) {
      if (inode.kind === 'file')
        lines.push(`${path} ${inode.mode.toString(8)} ${Buffer.from(inode.data).toString('latin1')}`);
      else if (inode.kind === 'link') lines.push(`${path} -> ${inode.target}`);
      else lines.push(`${path}/ ${inode.mode.toString(8)}`);
    } else if (!top.startsWith(path)) {
      return;
    }
    if (inode.kind !== 'directory') return;
    for (const [name, entry] of [...inode.entries].sort(([a], [b]) => (a < b ? -1 : 1))) walk(entry, `${path}/${name}`);
  }
  walk(ROOT_INODE, '');
  return lines;
}
