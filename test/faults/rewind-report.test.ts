import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { documentOf, errorOf } from '../support/json-document.js';
import { type CliRun, runCommandLine } from '../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

function run(temp: TempWorkspace, line: string): Promise<CliRun> {
  return runCommandLine(line.split(' '), { root: temp.root, cwd: temp.workspace, now: temp.clock.now });
}

/** A session whose rewind to 1 meets a file of each kind: there and changed, gone, absent and made, and what cannot be. */
async function everyKind(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ changed: 'c0', same: 's0', gone: 'g0', lost: 'l0', folder: 'f0' });
  await temp.say();
  await temp.tool({ changed: 'c1', same: 's1', gone: null, made: 'm1', never: null, lost: 'l1', folder: 'f1' });
  temp.put({ same: 's0' });
  execFileSync('mkfifo', [temp.at('pipe')]);
  await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['pipe', '../outside/x']);
  for (const blob of readdirSync(temp.path('checkpoints/blobs'))) {
    if (execFileSync('cat', [temp.path('checkpoints/blobs', blob)], { encoding: 'utf8' }) === 'l0') {
      rmSync(temp.path('checkpoints/blobs', blob));
    }
  }
  rmSync(temp.at('folder'));
  mkdirSync(temp.at('folder'));
  writeFileSync(temp.at('folder/inside'), 'x');
  return temp;
}

describe('what a rewind says of files', () => {
  test('FAULTS 37: each has its action and its reason, before and after', async () => {
    const temp = await everyKind();

    const planned = await run(temp, 'rewind s --to 1 --dry-run --json');
    const { plan } = await documentOf('rewind', planned.out);
    const told = Object.fromEntries(
      plan.files.map((file: { path: string; action: string; reason: string }) => [
        file.path,
        `${file.action}: ${file.reason.replace(/[0-9a-f]{8}…/, '<hash>')}`,
      ]),
    );
    const done = await run(temp, 'rewind s --to 1 --allow-partial --json');
    const { report } = await documentOf('rewind', done.out);

    expect(told).toEqual({
      changed: "restore: the session's own write_file of event 2",
      same: 'leave: is as it was then',
      gone: 'restore: was deleted later',
      made: "delete: the session's own write_file of event 2",
      never: 'leave: is not there, as then',
      lost: 'impossible: its blob <hash> is missing',
      folder: 'impossible: is a folder now',
      pipe: 'impossible: was not captured',
      '../outside/x': 'impossible: leads out of the workspace',
    });
    expect([planned.code, done.code]).toEqual([6, 0]);
    expect(report).toMatchObject({ filesRestored: 3, filesDeleted: 2 });
    expect(report.skipped.map(({ path, reason }: { path: string; reason: string }) => [path, reason !== ''])).toEqual(
      ['lost', 'folder', 'pipe', '../outside/x'].map((path) => [path, true]),
    );
  });

  test('FAULTS 37: what is not whole is refused with 6 and names each file, in text as well', async () => {
    const temp = await everyKind();
    const before = temp.everything();

    const { code, err, out } = await run(temp, 'rewind s --to 1');

    expect(code).toBe(6);
    for (const path of ['lost', 'folder', 'pipe', '../outside/x']) expect(err + out).toContain(path);
    expect(temp.everything()).toEqual(before);
  });

  test('FAULTS 37: a negative point is refused, and stored nowhere', async () => {
    const temp = await everyKind();
    const before = temp.everything();

    for (const target of [-1, 1.5, Number.NaN, -0.5]) {
      await expect(temp.store.rewind('s', { target })).rejects.toMatchObject({ code: expect.any(String) });
      await expect(temp.store.applyRewind('s', temp.workspace, target)).rejects.toMatchObject({
        code: expect.any(String),
      });
    }
    const { code, out } = await run(temp, 'rewind s --to=-99 --json');

    expect([code, errorOf(out).code]).toEqual([3, 'EVENT_NOT_FOUND']);
    expect(temp.everything()).toEqual(before);
  });
});
