import { relative, resolve } from 'node:path';
import { realPathOf } from '../../fs/real-path.js';
import type { StoreDeps } from '../base/deps.js';

/** What a path is called in a folder: as it is written, and with the links of its folders followed. */
export interface NameInWorkspace {
  /** `.` for the folder itself. */
  readonly name: string;
  readonly landed: string;
}

/** An absolute path as its name from a folder; undefined where it lands outside. Its last component is not followed. */
export function nameInWorkspace(
  { fs }: Pick<StoreDeps, 'fs'>,
  folder: string,
  path: string,
): NameInWorkspace | undefined {
  const last = path.slice(path.lastIndexOf('/') + 1);
  const above = realPathOf(fs, resolve(path.slice(0, path.length - last.length)));
  const landed = nameBelow(realPathOf(fs, folder), resolve(above, last));
  const name = nameBelow(folder, path) ?? landed;
  return name === undefined ? undefined : { name, landed: landed ?? name };
}

function nameBelow(folder: string, path: string): string | undefined {
  const name = relative(folder, path);
  if (name === '') return '.';
  return name === '..' || name.startsWith('../') ? undefined : name;
}
