import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { derivedFileSystem } from '../../../src/fs/derived-file-system.js';
import { nodeFileSystem } from '../../../src/fs/file-system.js';
import { whyFixed } from '../../../src/fs/fixed-entry.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

/** A session that changed `a` and made `new`; `held` tells what keeps a path of its workspace as it is. */
async function aSession(held: Readonly<Record<string, ReturnType<typeof whyFixed>>>): Promise<TempWorkspace> {
  const fileSystem = derivedFileSystem(nodeFileSystem, {
    whyFixed: (path) => Object.entries(held).find(([name]) => path.endsWith(`/workspace/${name}`))?.[1],
  });
  const temp = await tempWorkspace({ fileSystem });
  temp.put({ a: 'v0' });
  await temp.say();
  await temp.tool({ a: 'v1', new: 'n' });
  return temp;
}

describe('finding 43: what can only fail when it is done', () => {
  test.each([
    ['mount point', 'is a mount point, which can be neither replaced nor removed'],
    ['immutable', 'is marked as immutable (chattr +i)'],
    ['sticky folder', 'belongs to somebody else, in a folder where only owners may remove (sticky)'],
  ] as const)('given a file that is held as %s, then a rewind is impossible for that reason', async (why, reason) => {
    const temp = await aSession({ a: why, new: why });
    const before = temp.everything();

    const plan = await temp.store.previewRewind('s', { target: 1 });

    expect(plan.files.map(({ action, reason: told }) => [action, told])).toEqual([
      ['impossible', reason],
      ['impossible', reason],
    ]);
    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'INCOMPLETE' });
    expect(temp.everything()).toEqual(before);
  });

  test('given one that is as it was, then it is left', async () => {
    const temp = await aSession({ a: 'mount point' });
    temp.put({ a: 'v0' });

    expect((await temp.store.rewind('s', { target: 1 })).report).toMatchObject({ filesRestored: 1, filesDeleted: 1 });
  });

  test('given an undo, then it is impossible, too', async () => {
    const held: Record<string, 'mount point'> = {};
    const temp = await aSession(held);
    await temp.store.rewind('s', { target: 1 });
    held.a = 'mount point';

    expect((await temp.store.previewUndo('s')).files.find(({ path }) => path === 'a')).toMatchObject({
      action: 'impossible',
      reason: 'is a mount point, which can be neither replaced nor removed',
    });
  });

  test('given a folder in place of a file with something mounted in it, then it is impossible', async () => {
    const temp = await aSession({ 'a/in': 'mount point' });
    await temp.tool({ a: null });
    await temp.tool({ 'a/in/x': 'x' });

    const { files } = await temp.store.previewRewind('s', { target: 1 });
    expect(files.find(({ path }) => path === 'a')?.action).toBe('impossible');
  });
});

/** Runs a script where mounts are of its own, and gives what it prints; undefined where that is not allowed. */
function unshared(script: string): string | undefined {
  const { status, stdout } = spawnSync('unshare', ['-rm', 'sh', '-euc', script], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}

describe('finding 43: what is asked of the system', () => {
  const asks = `node --input-type=module -e "import { whyFixed } from '${new URL('../../../dist/fs/fixed-entry.js', import.meta.url).pathname}'; console.log(process.argv.slice(1).map((path) => whyFixed(path) ?? 'free').join(', '))"`;

  test('given a plain file, and none, then nothing', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'x', 'd/e': 'x' });
    expect(['a', 'd', 'd/e', 'none'].map((name) => whyFixed(temp.at(name)))).toEqual(Array(4).fill(undefined));
  });

  test.skipIf(unshared('true') === undefined)('given files and folders that are mounted, then that', async () => {
    const temp = await tempWorkspace();
    mkdirSync(temp.at('d e'));
    for (const name of ['a', 'with space', 'source', 'free']) writeFileSync(temp.at(name), name);

    const told = unshared(`cd '${temp.workspace}'
      mount --bind source a; mount --bind source 'with space'; mount -t tmpfs none 'd e'
      ${asks} "$PWD/a" "$PWD/with space" "$PWD/d e" "$PWD/source" "$PWD/free"`);

    expect(told).toBe('mount point, mount point, mount point, free, free\n');
  });

  const marked = spawnSync('sh', ['-c', 'f=$(mktemp) && chattr +i "$f" && chattr -i "$f" && rm "$f"']).status === 0;
  test.skipIf(!marked)('given a file that is marked as immutable, then that', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'x' });
    spawnSync('chattr', ['+i', temp.at('a')]);
    try {
      expect(whyFixed(temp.at('a'))).toBe('immutable');
    } finally {
      spawnSync('chattr', ['-i', temp.at('a')]);
    }
  });

  const asNobody = ['--reuid', '65534', '--clear-groups', 'sh', '-c'];
  const mayAct = spawnSync('setpriv', [...asNobody, `${asks} /`]).status === 0;
  test.skipIf(!mayAct)('given a file of somebody else in a sticky folder, then that', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'd/a': 'x' });
    chmodSync(temp.at('d'), 0o1777);
    chmodSync(dirname(temp.root), 0o755);

    const { stdout } = spawnSync('setpriv', [...asNobody, `${asks} '${temp.at('d/a')}'`], { encoding: 'utf8' });

    expect([stdout, whyFixed(temp.at('d/a'))]).toEqual(['sticky folder\n', undefined]);
  });
});
