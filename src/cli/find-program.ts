import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { platform } from 'node:os';
import { delimiter, extname, isAbsolute, join, sep } from 'node:path';
import { FileNotFoundError } from '../errors.js';
import { UsageError } from './errors.js';

/** Where a program may come from. */
interface ProgramSearch {
  /** The value of PATH. */
  readonly path: string;
  /** Folders that no program is taken from: anybody may have put one there. */
  readonly untrusted: readonly string[];
}

/**
 * Gives the absolute path of a program: found on PATH, or the one that an absolute path names.
 *
 * Entries of PATH that are relative or lie in an untrusted folder are passed over, also when a link leads there.
 * @throws {@link FileNotFoundError} (`FILE_NOT_FOUND`) when there is none.
 * @throws {@link UsageError} (`USAGE`) for a relative path, and for a script that would need a shell (`.cmd`, `.bat`).
 */
export function findProgram(name: string, search: ProgramSearch): string {
  refuseBatch(name);
  if (isAbsolute(name)) {
    if (isProgram(name)) return name;
    throw new FileNotFoundError(name, `There is no program ${JSON.stringify(name)}`);
  }
  if (name.includes('/') || name.includes(sep)) {
    throw new UsageError(`${JSON.stringify(name)} is a relative path`, 'Give an absolute path, or a name on PATH.');
  }
  const untrusted = search.untrusted.map(realOr);
  for (const folder of search.path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const ending of endings(name)) {
      const candidate = join(folder, name + ending);
      if (!isProgram(candidate)) continue;
      const places = [realOr(folder), realOr(candidate)];
      if (places.some((place) => untrusted.some((each) => isIn(place, each)))) continue;
      refuseBatch(realOr(candidate));
      return candidate;
    }
  }
  throw new FileNotFoundError(
    name,
    `There is no ${JSON.stringify(name)} on PATH (folders of the session and relative ones are not looked in)`,
    'Install it, or give an absolute path with --exec.',
  );
}

function endings(name: string): readonly string[] {
  return platform() === 'win32' && extname(name) === '' ? ['.exe', '.com', ''] : [''];
}

// Node would hand them to cmd.exe, where arguments are commands.
function refuseBatch(path: string): void {
  if (/\.(?:cmd|bat)[. ]*$/i.test(path)) {
    throw new UsageError(`${path} needs a shell, and none is used`, 'Name the program that it starts.');
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
