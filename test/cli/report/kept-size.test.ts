import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../support/run-cli.js';
import type { TempWorkspace } from '../../support/temp-workspace.js';
import { workedSession } from '../../support/worked-session.js';

/** A session that keeps so many bytes more than its rewinds do; none of them is on the disk. */
async function keeping(bytes: number): Promise<TempWorkspace> {
  const temp = await workedSession();
  mkdirSync(temp.path('.zs/torn'), { recursive: true });
  writeFileSync(temp.path('.zs/torn/large'), '');
  truncateSync(temp.path('.zs/torn/large'), bytes);
  return temp;
}

const run = (temp: TempWorkspace, line: string) =>
  runCommandLine(line.split(' '), { root: temp.root, cwd: temp.workspace });

describe('finding 48: how much is kept for undo', () => {
  test.each(['rewind s --to 5', 'rewind s --to 1 --files-only', 'checkpoint restore s --to 1'])(
    'given %s, then its output speaks of it from 100 MB on, and not before',
    async (line) => {
      const little = await run(await keeping(99_000_000), line);
      const much = await run(await keeping(115_000_000), line);
      const quiet = await run(await keeping(115_000_000), `${line} --quiet`);

      expect([little.code, little.err]).toEqual([0, expect.not.stringContaining('can be undone')]);
      expect([much.code, much.err]).toEqual([
        0,
        expect.stringMatching(/What can be undone in s takes 1\d\d(?:\.\d)? Mi?B/),
      ]);
      expect(quiet.err).toBe('');
    },
  );

  test('given an undo, then its output speaks of it as well', async () => {
    const temp = await keeping(115_000_000);
    await run(temp, 'rewind s --to 5');

    expect((await run(temp, 'rewind s --undo')).err).toContain('What can be undone in s takes');
  });

  test('given info, then it names the session from 100 MB on, and JSON has the sum', async () => {
    const little = await run(await keeping(1000), 'info');
    const temp = await keeping(115_000_000);
    const much = await run(temp, 'info');
    const { keptBytes, notablyKept } = JSON.parse((await run(temp, 'info --json')).out);

    expect(little.out).not.toContain('kept for undo');
    expect(much.out).toMatch(/kept for undo +1\d\d(?:\.\d)? Mi?B in s/);
    expect([keptBytes, notablyKept]).toEqual([115_000_000, [{ sessionId: 's', bytes: 115_000_000 }]]);
  });

  test('finding 38: given list --size, then what is kept is counted beside log and blobs', async () => {
    const temp = await keeping(115_000_000);

    const [session] = JSON.parse((await run(temp, 'list --size --json')).out).sessions;

    expect(session.keptBytes).toBe(115_000_000);
    expect((await run(temp, 'list --size')).out).toContain('KEPT');
  });
});
