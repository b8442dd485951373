import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliSurroundings, runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

function run(temp: TempStore, argv: readonly string[], surroundings: CliSurroundings = {}) {
  const env = { PATH: process.env.PATH ?? '' };
  return runCommandLine(['compact', 's', ...argv], { root: temp.root, cwd: dirname(temp.root), env, ...surroundings });
}

describe('compact without a summary', () => {
  test('given a session, then the plan and the prompt are shown, and nothing is recorded', async () => {
    const temp = tempStore(aSession().withMessages(9));
    const before = temp.text('events.jsonl');

    const { code, out, err } = await run(temp, []);

    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^A summary would stand for 3 events \(1 to 3\); 6 events stay\nThe prompt \(\d+ characters\):\n\n/,
    );
    expect(out).toMatch(/\n- \[3\] message user: event 3\n$/);
    expect(temp.text('events.jsonl')).toBe(before);
  });

  test('given --preserve-last and --max-prompt-chars, then they hold', async () => {
    const temp = tempStore(aSession().withMessages(9));

    const { out } = await run(temp, ['--preserve-last', '2', '--max-prompt-chars', '450', '--json']);

    const { plan, prompt } = JSON.parse(out);
    expect(plan).toMatchObject({ preserveLast: 2, compactableCount: 7, preservedCount: 2, truncated: true });
    expect(prompt.length).toBeLessThanOrEqual(450);
  });

  test('given fewer events than are to stay, then there is nothing to compact', async () => {
    const temp = tempStore(aSession().withMessages(3));

    const { code, out, err } = await run(temp, []);

    expect([code, out]).toEqual([0, 'A summary would stand for 0 events; 3 events stay\n']);
    expect(err).toContain('--preserve-last');
  });

  test('given a secret in a message, then the prompt does not have it', async () => {
    const payload = '{"role":"user","content":"password=hunter2hunter2"}';
    const temp = tempStore(aSession().withEvent({ payload }).withMessages(7));

    expect((await run(temp, ['-q'])).out).toContain('password=[REDACTED]');
  });
});

describe('compact with a summary', () => {
  test('given it as text, from a file, or from stdin, then it is recorded', async () => {
    const temp = tempStore(aSession().withMessages(9));
    writeFileSync(join(dirname(temp.root), 'summary.txt'), '\n from a file \n');

    const text = await run(temp, ['--summary', ' as text ']);
    const file = await run(temp, ['--summary-file', 'summary.txt', '-q']);
    const stdin = await run(temp, ['--summary-file', '-', '-q'], { stdin: 'from stdin\n' });

    expect(text.out).toBe('Recorded as event 10 of s\nThe summary stands for 3 events (1 to 3); 6 events stay.\n');
    expect([file.out, stdin.out]).toEqual(['11\n', '12\n']);
    const summaries = (await temp.store.readEvents('s')).slice(-3).map(({ payload }) => summaryOf(payload));
    expect(summaries).toEqual(['as text', 'from a file', 'from stdin']);
  });

  test('given a summarizer, then it gets the prompt and what it prints is the summary', async () => {
    const temp = tempStore(aSession().withMessages(9));

    const { code, err } = await run(temp, ['--summarizer', 'tr a-z A-Z | tail -n 1; echo progress >&2']);

    expect([code, err]).toEqual([0, '']);
    expect(summaryOf((await temp.store.readEvents('s')).at(-1)?.payload)).toBe('- [3] MESSAGE USER: EVENT 3');
  });

  test('given a summarizer that fails, then what it said is shown, safely, also under -q', async () => {
    const temp = tempStore(aSession().withMessages(9));
    const summarizer = `printf 'no \\033[31mmodel\\n' >&2; exit 3`;

    const { code, out, err } = await run(temp, ['--summarizer', summarizer, '-q']);

    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('warning: no \\u{1b}[31mmodel\n');
    expect(err).toContain('The summarizer exited with 3: nothing was recorded');
    expect(await temp.store.readEvents('s')).toHaveLength(9);
  });

  test('given a summarizer that does not read, and a long prompt, then that is its own affair', async () => {
    const long = `{"role":"user","content":"${'x '.repeat(400_000)}"}`;
    const temp = tempStore(aSession().withEvent({ payload: long }).withMessages(7));

    const { code } = await run(temp, ['--summarizer', 'exec <&-; echo short', '--max-prompt-chars', '2000000']);

    expect(code).toBe(0);
  });

  test.each([
    ['--summary', ' '],
    ['--summary-file', '-'],
  ])('given a blank %s, then it is refused', async (...argv) => {
    const temp = tempStore(aSession().withMessages(9));

    expect((await run(temp, argv)).code).toBe(2);
    expect(await temp.store.readEvents('s')).toHaveLength(9);
  });
});

describe('compact --undo', () => {
  test('given a compaction, then what it stood for is in force again, and rewind --undo brings it back', async () => {
    const temp = tempStore(aSession().withMessages(9));
    await run(temp, ['--summary', 'all of it']);

    const { code, out } = await run(temp, ['--undo']);

    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^The latest compaction of s was taken back\nUndo that with: /),
    ]);
    expect((await temp.store.readReplayEvents('s')).slice(0, 9).map(({ sequence }) => sequence)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    const undo = await runCommandLine(['rewind', 's', '--undo', '-q'], { root: temp.root });
    expect([undo.code, (await temp.store.readReplayEvents('s'))[0]?.type]).toEqual([0, 'session_compaction']);
  });
});

function summaryOf(payload: Uint8Array | undefined): string {
  return JSON.parse(Buffer.from(payload ?? []).toString()).summary;
}
