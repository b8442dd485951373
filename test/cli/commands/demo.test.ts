import { getEventListeners } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../support/run-cli.js';

/** Gives the store that a tour says it made; it is gone when the test is over. */
function rootOf(out: string): string {
  const root = / --root (\S+\/zero-sessions-demo-\S+)$/m.exec(out)?.[1];
  if (root === undefined) throw new Error(`The tour names no store: ${out}`);
  onTestFinished(() => rmSync(dirname(dirname(root)), { recursive: true, force: true }));
  return root;
}

describe('demo', () => {
  test('given a tour of many runs, then none of them leaves anything hanging on the signal', async () => {
    const { signal } = new AbortController();

    rootOf((await runCommandLine(['demo'], { signal })).out);

    expect(getEventListeners(signal, 'abort').length).toBeLessThan(3);
  });

  test('given nothing, then it makes a store of its own, walks through it, and says how to go on', async () => {
    const run = await runCommandLine(['demo'], { env: { HOME: '/nowhere' } });
    const root = rootOf(run.out);

    expect([run.code, run.err]).toEqual([0, '']);
    expect(existsSync(root)).toBe(true);
    const commandLines = [...run.out.matchAll(/^\$ zero-sessions (.*)$/gm)].map(([, line]) => line);
    expect(commandLines).toEqual([
      'list',
      'tree',
      'show demo-greeting',
      'show demo-greeting --events --tail 4',
      'show demo-greeting --type message --jsonl',
      'list --kind fork -q',
      'fork demo-greeting --id demo-trial --title "Try things"',
      'checkpoint list demo-trial',
      'rewind demo-trial --to 3 --dry-run',
      'rewind demo-trial --to 3',
      'rewind demo-trial --undo',
      'compact demo-trial --preserve-last 2 --summary "greet.sh takes a name now."',
      'resume demo-trial',
    ]);
    expect(run.out).toContain('Files: 1 restored');
    expect(run.out).toContain('└─ demo-greeting-loud ');
    expect(run.out).not.toContain('zero-sessions: ');
  });

  test('given that it was run, then what it prints of its store can be had again', async () => {
    const run = await runCommandLine(['demo']);
    const root = rootOf(run.out);

    const again = await runCommandLine(['show', 'demo-greeting'], { root });

    expect(again.code).toBe(0);
    expect(run.out).toContain(again.out.trimEnd());
  });

  test('given words between the outputs, then none is wider than a page', async () => {
    const run = await runCommandLine(['demo'], { columns: 60, env: { NO_COLOR: '1' } });
    rootOf(run.out);

    const paragraphs = run.out.split('\n\n').filter((text) => /^\d+\. /.test(text));
    const words = paragraphs.flatMap((text) => text.split('\n'));
    expect(paragraphs).toHaveLength(13);
    expect(Math.max(...words.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
