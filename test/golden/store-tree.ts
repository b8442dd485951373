import type { FileTree } from './file-tree.js';

const OURS = '.zs';
const TEMPORARY = /(?:^|\/)(\.zs-(?:new|tmp)-[^/]*)$/;

/**
 * Gives what is compared of a store: without our keep area and locks, and without Zero's lock files. A store with
 * nothing else in it counts as not there (README.md, "Trees"; DIFFERENCES.md, rule 1).
 */
export function withoutOurOwn(store: FileTree): FileTree {
  const left = [...store].filter(([path]) => !isOurs(path) && !isLock(path));
  return new Map(left.length === 1 && left[0]?.[0] === '.' ? [] : left);
}

/** Names every half-made session or file that was left anywhere in a store. */
export function storeLeftovers(store: FileTree): readonly string[] {
  return [...store.keys()].filter((path) => TEMPORARY.test(path)).map((path) => `left behind: store/${path}`);
}

// In the top of the store and in each session's folder: nowhere deeper.
function isOurs(path: string): boolean {
  return path
    .split('/')
    .slice(0, 2)
    .some((name) => name.startsWith(OURS));
}

function isLock(path: string): boolean {
  return path.split('/').at(-1) === 'session.lock';
}
