import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempWorkspace } from '../support/temp-workspace.js';

// Built by `npm test` before it begins.
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const ROUNDS = 40;

/** Snapshots the files 0 … n - 1 of a workspace, one after the other, when told to begin, and counts entries with a blob. */
const SNAPSHOTS = `
  import { openStore } from ${JSON.stringify(LIBRARY)};
  const [root, workspace, rounds] = process.argv.slice(1);
  const store = openStore({ root });
  process.stdout.write('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  let stored = 0;
  for (let round = 0; round < Number(rounds); round += 1) {
    const { payload } = await store.snapshotForCheckpoint('s', workspace, 't', [String(round)]);
    if (typeof payload?.files[0]?.blob === 'string') stored += 1;
  }
  process.stdout.write(' ' + stored);
  process.exit();
`;

describe('two processes that snapshot the same content', () => {
  test('FAULTS 31: at the same moment, then both have each blob, and nothing is left beside them', async () => {
    const temp = await tempWorkspace();
    for (let round = 0; round < ROUNDS; round += 1) writeFileSync(temp.at(`${round}`), `content ${round}`.repeat(5000));
    const processes = [1, 2].map(() => {
      const args = ['--input-type=module', '-e', SNAPSHOTS, temp.root, temp.workspace, `${ROUNDS}`];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      child.stdout.on('data', (part: Buffer) => {
        said += part.toString();
      });
      return { child, exit: once(child, 'exit'), said: () => said };
    });
    await Promise.all(processes.map(({ child }) => once(child.stdout, 'data')));

    for (const { child } of processes) child.stdin.write('go');
    await Promise.all(processes.map(({ exit }) => exit));

    expect(processes.map(({ said }) => said())).toEqual([`ready ${ROUNDS}`, `ready ${ROUNDS}`]);
    const blobs = readdirSync(temp.path('checkpoints/blobs'));
    expect(blobs).toHaveLength(ROUNDS);
    for (const blob of blobs) {
      const content = readFileSync(temp.path('checkpoints/blobs', blob));
      expect(createHash('sha256').update(content).digest('hex')).toBe(blob);
    }
    expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
  });
});
