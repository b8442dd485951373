import type { IntendedChange } from '../../model/rewind-record.js';
import { foldersAbove, isInState } from './changed-shape.js';
import type { FileAction, FileChange, PresentState } from './file-change.js';

const SOMEBODY = 'changed since by somebody';

/** A file of an intent, and what is known of it at the moment. */
interface FileToRollBack {
  readonly file: IntendedChange;
  /** Where its path leads now. */
  readonly resolved: string;
  readonly present: PresentState;
  /** Why what it was cannot be had, or why it cannot be changed; undefined where neither is so. */
  readonly obstacle: () => string | undefined;
}

/**
 * Decides how the files of an interrupted rewind go back to what they were (RELIABILITY.md, 3.3). A file is touched
 * only in one of the two states that the intent holds: what is in neither is a conflict, and stays.
 */
export function planRollBack(files: readonly FileToRollBack[], paths: ReadonlySet<string>): readonly FileChange[] {
  const above = new Set([...paths].flatMap(foldersAbove));
  const changes = files.map((each) => planFileBack(each, above.has(each.file.path)));
  const going = new Set(changes.flatMap(({ action, path }) => (action === 'delete' ? [path] : [])));
  // Folders on the way to files of the intent are ours, and empty by then.
  const isOurs = (held: string): boolean => going.has(held) || above.has(held);
  return changes.map((change): FileChange => {
    const { action, present } = change;
    if (action !== 'restore' && action !== 'delete') return change;
    if (present.kind === 'absent' && present.behind !== undefined && !going.has(present.behind)) {
      const reason = `cannot be reached: ${JSON.stringify(present.behind)} is no folder`;
      return { ...change, action: 'impossible', reason };
    }
    const isFree = present.kind !== 'folder' || present.holds?.every(isOurs) === true;
    return isFree ? change : { ...change, action: 'conflict', reason: SOMEBODY };
  });
}

function planFileBack({ file, resolved, present, obstacle }: FileToRollBack, isAboveOthers: boolean): FileChange {
  const { path, before, to, folderModes, mtimeMs } = file;
  const change = (action: FileAction, reason: string): FileChange => ({
    path,
    resolved,
    wanted: before,
    present,
    action,
    reason,
    mtimeMs,
    ...(folderModes === undefined ? {} : { folderModes }),
  });
  if (isInState(present, before, isAboveOthers)) return change('leave', 'is as it was');
  if (!isInState(present, to, isAboveOthers)) return change('conflict', SOMEBODY);
  const reason = obstacle();
  if (reason !== undefined) return change('impossible', reason);
  return change(before.kind === 'absent' ? 'delete' : 'restore', 'is as the rewind left it');
}
