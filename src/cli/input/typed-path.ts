import { posix, resolve } from 'node:path';
import type { CommandContext } from '../command.js';

/** A path as it was typed, and the file of a session that it means. */
export interface TypedPath {
  readonly typed: string;
  /** From the folder of the session, without `.` and `..`; where it lands outside, as it leads there. */
  readonly name: string;
  /** The same with the links of its folders followed. */
  readonly landed: string;
}

/**
 * Gives what typed paths mean: from where one stands when that lies in the folder of the session, else from that folder.
 * Says it where the name is another than the one typed.
 * @param folder - That of the session; undefined where it is not known, and then paths are taken as checkpoints name them.
 */
export async function typedPaths(
  context: CommandContext,
  paths: readonly string[],
  folder: string | undefined,
): Promise<readonly TypedPath[]> {
  if (folder === undefined || !posix.isAbsolute(folder)) {
    return paths.map((typed) => ({ typed, name: plainName(typed), landed: plainName(typed) }));
  }
  const from = standsIn(context, folder) ? context.cwd : folder;
  const found = paths.map((typed): TypedPath => {
    const path = resolve(from, typed);
    const inside = context.store.nameInFolder(folder, path);
    if (inside !== undefined) return { typed, ...inside };
    const outside = posix.isAbsolute(typed) ? path : posix.relative(folder, path);
    return { typed, name: outside, landed: outside };
  });
  for (const { typed, name } of found) {
    if (!posix.isAbsolute(typed) && plainName(typed) !== name) await context.note(`${typed} is ${name} in ${folder}.`);
  }
  return found;
}

/** Tells whether one stands in a folder, or below it. */
export function standsIn({ store, cwd }: CommandContext, folder: string): boolean {
  // One stands behind the link that led there.
  return store.nameInFolder(folder, `${cwd}/.`) !== undefined;
}

function plainName(path: string): string {
  const name = posix.normalize(path).replace(/\/+$/, '');
  return name === '' ? '/' : name;
}
