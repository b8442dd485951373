import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Entry, Tree } from './golden-case.js';

/** What stands at a path below a tree's top. */
export type TreeNode =
  | { readonly kind: 'folder'; readonly mode: number }
  | { readonly kind: 'file'; readonly mode: number; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'special' };

/** Nodes by path, `/` between names; `.` is the top. */
export type FileTree = ReadonlyMap<string, TreeNode>;

/** The modes that are meant where a case gives none. */
export interface DefaultModes {
  readonly file: number;
  readonly folder: number;
}

export const STORE_MODES: DefaultModes = { file: 0o600, folder: 0o700 };
export const OTHER_MODES: DefaultModes = { file: 0o644, folder: 0o755 };

/** Lays a tree; everything in it gets this modification time, since the recorded clock stood still. */
export function layTree(top: string, tree: Tree, defaults: DefaultModes, time: Date): void {
  makeFolders(top, defaults);
  for (const [path, mode] of Object.entries(tree.dirs)) {
    makeFolders(join(top, path), defaults);
    chmodSync(join(top, path), mode);
  }
  for (const [path, entry] of Object.entries(tree.files)) {
    makeFolders(dirname(join(top, path)), defaults);
    writeEntry(join(top, path), entry, defaults, time);
  }
  // Writing a file changes the time of its folder, so folders come last.
  for (const path of readFileTree(top).keys()) lutimesSync(join(top, path), time, time);
}

/** Writes one file or link; an existing file keeps its mode unless one is given. */
export function writeEntry(path: string, entry: Entry, defaults: DefaultModes, time: Date): void {
  if (entry.kind === 'link') {
    symlinkSync(entry.target, path);
  } else {
    const isNew = !existsSync(path);
    writeFileSync(path, entry.kind === 'text' ? entry.text : entry.bytes);
    if (entry.mode !== undefined || isNew) chmodSync(path, entry.mode ?? defaults.file);
  }
  lutimesSync(path, time, time);
}

/** Makes a folder and those above it that are missing, with the default mode whatever the umask. */
export function makeFolders(path: string, { folder }: DefaultModes): void {
  const first = mkdirSync(path, { recursive: true, mode: folder });
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    chmodSync(made, folder);
    if (made === first) return;
  }
}

/** Reads everything below a folder, nothing followed; empty when there is no folder. */
export function readFileTree(top: string): FileTree {
  const nodes = new Map<string, TreeNode>();
  const visit = (path: string): void => {
    const name = relative(top, path) || '.';
    const stat = lstatSync(path);
    const mode = stat.mode & 0o7777;
    if (stat.isSymbolicLink()) nodes.set(name, { kind: 'link', target: readlinkSync(path) });
    else if (stat.isFile()) nodes.set(name, { kind: 'file', mode, bytes: readFileSync(path) });
    else if (!stat.isDirectory()) nodes.set(name, { kind: 'special' });
    else {
      nodes.set(name, { kind: 'folder', mode });
      for (const entry of readdirSync(path).sort()) visit(join(path, entry));
    }
  };
  if (lstatSync(top, { throwIfNoEntry: false }) !== undefined) visit(top);
  return nodes;
}

/** Gives a recorded tree in the form in which a folder is read. Every file and folder has to be listed with its mode. */
export function recordedTree(tree: Tree): Map<string, TreeNode> {
  const nodes = new Map<string, TreeNode>();
  for (const [path, mode] of Object.entries(tree.dirs)) nodes.set(path, { kind: 'folder', mode });
  for (const [path, entry] of Object.entries(tree.files)) nodes.set(path, recordedNode(path, entry));
  return nodes;
}

/** Tells, one line for each path, how a folder differs from what is expected. */
export function treeMismatches(name: string, expected: FileTree, actual: FileTree): readonly string[] {
  const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return paths.flatMap((path) => {
    const wanted = describeNode(expected.get(path));
    const found = describeNode(actual.get(path));
    return wanted === found ? [] : [`${name}/${path}\n  recorded: ${wanted}\n  ours:     ${found}`];
  });
}

/** Gives the hash by which a blob is named. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function recordedNode(path: string, entry: Entry): TreeNode {
  if (entry.kind === 'link') return { kind: 'link', target: entry.target };
  if (entry.mode === undefined) throw new Error(`${path} is recorded without a mode`);
  return { kind: 'file', mode: entry.mode, bytes: entry.kind === 'text' ? Buffer.from(entry.text) : entry.bytes };
}

// The description is the comparison: it holds every bit of a node, so what is equal reads equal.
function describeNode(node: TreeNode | undefined): string {
  if (node === undefined) return 'nothing';
  if (node.kind === 'special') return 'a special file';
  if (node.kind === 'link') return `a link to ${node.target}`;
  const mode = node.mode.toString(8).padStart(4, '0');
  if (node.kind === 'folder') return `a folder, ${mode}`;
  const text = Buffer.from(node.bytes).toString('utf8');
  const content = Buffer.from(text).equals(node.bytes) ? JSON.stringify(text) : Buffer.from(node.bytes).toString('hex');
  return `a file, ${mode}, ${content}`;
}
