import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FileSystem, type FolderHandle, nodeFileSystem, UnexpectedKindError } from '../../src/fs/file-system.js';
import { emptyTree, MemoryFileSystem } from '../support/memory-file-system.js';

/** One call of the interface, with small choices in the place of paths and descriptors. */
type Call = readonly [name: (typeof NAMES)[number], a: number, b: number, text: string];

const NAMES = [
  'create',
  'write',
  'write',
  'truncate',
  'fsync',
  'fchmod',
  'mkdir',
  'mkdir',
  'rename',
  'rename',
  'link',
  'symlink',
  'unlink',
  'rmdir',
  'openRead',
  'openAppend',
  'openFolder',
  'read',
  'close',
  'lstat',
  'stat',
  'readlink',
  'readdir',
  'realpath',
  'mayChange',
] as const;
const PATHS = ['a', 'b', 'd', 'd/a', 'd/e', 'd/e/c', 'l', 'l/a', 'd/../b', './a', 'd/l', 'fd:0/a', 'fd:1/x'];
const TARGETS = ['a', 'd', '../b', 'nowhere', 'l', '.', 'e/c'];

/** Runs calls one after the other and gives what each of them gave: a value, or the code of its error. */
function results(fs: FileSystem, root: string, calls: readonly Call[]): readonly unknown[] {
  const files: number[] = [];
  const folders: FolderHandle[] = [];
  const pathOf = (choice: number): string => {
    const path = PATHS[choice % PATHS.length] as string;
    const opened = /^fd:(\d)\/(.*)$/.exec(path);
    const folder = opened === null ? undefined : folders[Number(opened[1])];
    if (opened !== null) return folder === undefined ? `${root}/a` : `${folder.path}/${opened[2]}`;
    return `${root}/${path}`;
  };
  const shown = (path: string): string => path.replace(root, 'ROOT');
  const statOf = (stat: ReturnType<FileSystem['lstat']>): unknown =>
    stat && [
      stat.kind,
      stat.kind === 'directory' ? 0 : stat.size,
      stat.mode,
      stat.kind === 'directory' ? 0 : stat.nlink,
    ];
  const run = ([name, a, b, text]: Call): unknown => {
    const path = pathOf(a);
    const fd = files[a % Math.max(1, files.length)] ?? 9999;
    switch (name) {
      case 'create':
        files.push(fs.create(path, [0o600, 0o644, 0o755][b % 3] as number));
        return 'created';
      case 'write':
        return fs.write(fd, Buffer.from(text), 0, Buffer.byteLength(text));
      case 'truncate':
        return fs.truncate(fd, b % 7);
      case 'fsync':
        return fs.fsync(fd);
      case 'fchmod':
        return fs.fchmod(fd, [0o600, 0o700, 0o640][b % 3] as number);
      case 'mkdir':
        return fs.mkdir(path, [0o700, 0o755][b % 2] as number);
      case 'rename':
        return fs.rename(path, pathOf(b));
      case 'link':
        return fs.link(path, pathOf(b));
      case 'symlink':
        return fs.symlink(TARGETS[b % TARGETS.length] as string, path);
      case 'unlink':
        return fs.unlink(path);
      case 'rmdir':
        return fs.rmdir(path);
      case 'openRead':
        files.push(fs.openRead(path));
        return 'opened';
      case 'openAppend':
        files.push(fs.openAppend(path));
        return 'opened';
      case 'openFolder': {
        const folder = fs.openFolder(path);
        folders.push(folder);
        folder.sync();
        return 'opened';
      }
      case 'read': {
        const into = new Uint8Array(8);
        const count = fs.read(fd, into, 1, 6, b % 4);
        return [count, Buffer.from(into).toString('hex')];
      }
      case 'close': {
        if (files.length === 0) return 'none';
        const [closed] = files.splice(a % files.length, 1);
        return fs.close(closed as number);
      }
      case 'lstat':
        return statOf(fs.lstat(path));
      case 'stat':
        return statOf(fs.stat(path));
      case 'readlink':
        return fs.readlink(path);
      case 'readdir':
        return fs.readdir(path);
      case 'realpath':
        return shown(fs.realpath(path));
      case 'mayChange': {
        const stat = fs.stat(path);
        return stat?.kind === 'file' ? 'file' : fs.mayChange(path);
      }
      default:
        return name satisfies never;
    }
  };
  const gathered = calls.map((call) => {
    try {
      return run(call) ?? 'done';
    } catch (error) {
      if (error instanceof UnexpectedKindError) return `EKIND ${error.found}`;
      return (error as { code?: string }).code ?? error;
    }
  });
  gathered.push(treeBelow(fs, root));
  for (const fd of files) fs.close(fd);
  for (const folder of folders) folder.close();
  return gathered;
}

function treeBelow(fs: FileSystem, folder: string): unknown {
  return fs.readdir(folder).map(({ name, kind }) => {
    const path = `${folder}/${name}`;
    const mode = fs.lstat(path)?.mode;
    if (kind === 'directory') return [name, mode, treeBelow(fs, path)];
    if (kind === 'link') return [name, fs.readlink(path)];
    const fd = fs.openRead(path);
    const bytes = new Uint8Array(256);
    const count = fs.read(fd, bytes, 0, 256, 0);
    fs.close(fd);
    return [name, mode, Buffer.from(bytes.subarray(0, count)).toString('hex')];
  });
}

test('given any calls, then the file system in memory does what the real one does', () => {
  const call: fc.Arbitrary<Call> = fc.tuple(
    fc.constantFrom(...NAMES),
    fc.nat({ max: 60 }),
    fc.nat({ max: 60 }),
    fc.string({ maxLength: 9 }),
  );

  fc.assert(
    fc.property(fc.array(call, { minLength: 5, maxLength: 60 }), (calls) => {
      const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-memory-')));
      try {
        const memory = new MemoryFileSystem(emptyTree(0), () => 0);
        let path = '';
        for (const name of `${top}/root`.split('/').slice(1)) {
          path = `${path}/${name}`;
          memory.mkdir(path, 0o755);
        }
        mkdirSync(`${top}/root`);

        expect(results(memory, `${top}/root`, calls)).toEqual(results(nodeFileSystem, `${top}/root`, calls));
        expect(memory.openCount).toBe(0);
      } finally {
        rmSync(top, { recursive: true, force: true });
      }
    }),
    { numRuns: 400, seed: 20260709 },
  );
});
