import { chownSync, lstatSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/index.js';

const SOMEBODY = 12_345;
const isRoot = process.getuid?.() === 0;

describe('writing to the store of another user', () => {
  test.runIf(isRoot)('given root, then it is refused and nothing is made', async () => {
    const root = storeOf(SOMEBODY);
    const store = openStore({ root, uid: 0 });

    await expect(store.create({ sessionId: 's' })).rejects.toMatchObject({ code: 'FOREIGN_OWNER' });

    expect(readdirSync(root)).toEqual([]);
  });

  test.runIf(isRoot)('given root as owner, then every file belongs to the owner afterwards', async () => {
    const root = storeOf(SOMEBODY);
    const store = openStore({ root, uid: 0, asOwner: true });

    await store.create({ sessionId: 's' });
    await store.appendEvent('s', { type: 'message' });
    await store.truncateEvents('s', 0);

    expect(ownersBelow(root)).toEqual([SOMEBODY]);
  });

  test.runIf(isRoot)('given root, then reading works', async () => {
    const root = storeOf(0);
    await openStore({ root }).create({ sessionId: 's' });
    chownSync(root, SOMEBODY, SOMEBODY);

    expect(await openStore({ root, uid: 0 }).list()).toHaveLength(1);
  });

  test('given the owner, then nothing is in the way', async () => {
    const root = mkdtempSync(join(tmpdir(), 'zs-owner-'));
    const store = openStore({ root, uid: lstatSync(root).uid });

    expect(await store.create({ sessionId: 's' })).toMatchObject({ sessionId: 's' });
  });
});

function storeOf(uid: number): string {
  const root = mkdtempSync(join(tmpdir(), 'zs-owner-'));
  chownSync(root, uid, uid);
  return root;
}

function ownersBelow(folder: string): number[] {
  const owners = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (path) => lstatSync(join(folder, path)).uid,
  );
  return [...new Set(owners)];
}
