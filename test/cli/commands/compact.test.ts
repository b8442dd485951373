import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
      /^A summary would stand for 3 events \(1 to 3\); 6 events stay\nThe prompt \(3 events, \d+ characters\):\n\n/,
    );
    expect(out).toMatch(/\n\[3\] message user: event 3\n$/);
    expect(temp.text('events.jsonl')).toBe(before);
  });

  test('given --preserve-last and --max-prompt-chars, then they hold', async () => {
    const temp = tempStore(manyMessages(60));

    const { code, out, err } = await run(temp, ['--preserve-last', '2', '--max-prompt-chars', '4000', '--json']);

    const { plan, prompt, part, parts } = JSON.parse(out);
    expect([code, err]).toEqual([0, expect.stringContaining('part 1 of')]);
    expect(plan).toMatchObject({ preserveLast: 2, compactableCount: 58, preservedCount: 2, entryCount: 58 });
    expect(prompt.length).toBe(plan.promptChars);
    expect(prompt.length).toBeLessThanOrEqual(4000);
    expect([part, parts > 1]).toEqual([1, true]);
  });

  test('finding 25: given --part, then its prompt has a place for the summary before, and each entry is in one', async () => {
    const temp = tempStore(manyMessages(60));
    const { parts } = JSON.parse((await run(temp, ['--max-prompt-chars', '4000', '--json'])).out);

    const prompts: string[] = [];
    for (let part = 1; part <= parts; part += 1) {
      prompts.push((await run(temp, ['--max-prompt-chars', '4000', '-q', '--part', String(part)])).out);
    }

    expect(prompts.map((prompt) => /<summary of part \d+>/.exec(prompt)?.[0])).toEqual(
      prompts.map((_, at) => (at === 0 ? undefined : `<summary of part ${at}>`)),
    );
    expect(prompts.flatMap(entriesIn)).toEqual(Array.from({ length: 54 }, (_, at) => at + 1));
    expect((await run(temp, ['--max-prompt-chars', '4000', '--part', String(parts + 1)])).code).toBe(2);
    expect((await run(temp, ['--max-prompt-chars', '3999'])).code).toBe(2);
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

    expect(text.out).toBe(
      'Recorded as event 10 of s\nThe summary stands for 3 events (1 to 3); 6 events stay.\n' +
        'All of them were shown to its writer.\n  as text\n',
    );
    expect([file.out, stdin.out]).toEqual(['11\n', '12\n']);
    const summaries = (await temp.store.readEvents('s')).slice(-3).map(({ payload }) => summaryOf(payload));
    expect(summaries).toEqual(['as text', 'from a file', 'from stdin']);
  });

  test('given a summarizer, then it gets the prompt and what it prints is the summary', async () => {
    const temp = tempStore(aSession().withMessages(9));

    const { code, err } = await run(temp, ['--summarizer', 'tr a-z A-Z | tail -n 1; echo progress >&2']);

    expect([code, err]).toEqual([0, '']);
    expect(summaryOf((await temp.store.readEvents('s')).at(-1)?.payload)).toBe('[3] MESSAGE USER: EVENT 3');
  });

  test('given a summarizer that fails, then what it said is shown, safely, also under -q', async () => {
    const temp = tempStore(aSession().withMessages(9));
    const summarizer = `printf 'no \\033[31mmodel\\n' >&2; exit 3`;

    const { code, out, err } = await run(temp, ['--summarizer', summarizer, '-q']);

    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('warning: no \\u{1b}[31mmodel\n');
    expect(err).toContain('The summarizer exited with 3 in round 1 of 1, nothing was recorded: printf');
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

describe('finding 25: compact --summarizer', () => {
  test('given 1,000 events of ten kinds, then it sees each entry once over all rounds, and each prompt keeps to the limit', async () => {
    const temp = tempStore(tenKinds(1000));
    const dir = dirname(temp.root);
    writeFileSync(join(dir, 'summarize'), SEES_NUMBERS);

    const { code, out, err } = await run(temp, ['--max-prompt-chars', '20000', '--summarizer', 'sh ./summarize']);

    expect(code).toBe(0);
    const seen = readFileSync(join(dir, 'seen'), 'utf8').trim().split('\n').map(Number);
    const { compactableEvents } = JSON.parse(Buffer.from((await lastOf(temp))?.payload ?? []).toString());
    expect(compactableEvents.length).toBeGreaterThan(980);
    expect(seen).toEqual(compactableEvents.map(({ sequence }: { sequence: number }) => sequence));
    const sizes = readFileSync(join(dir, 'sizes'), 'utf8').trim().split('\n').map(Number);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000);
    expect(err).toContain(`Round ${sizes.length} of ${sizes.length}: `);
    expect(out).toContain(`All of them were shown to its writer`);
  });

  test('given a round that fails, then nothing is recorded, and what was written so far is not lost', async () => {
    const temp = tempStore(manyMessages(60));
    const summarizer = `if grep -q '^This is part 3 '; then exit 7; else echo so far; fi`;

    const text = await run(temp, ['--max-prompt-chars', '4000', '--summarizer', summarizer]);
    const json = await run(temp, ['--max-prompt-chars', '4000', '--summarizer', summarizer, '--json']);

    expect([text.code, text.out]).toEqual([1, '']);
    expect(text.err).toMatch(/The summarizer exited with 7 in round 3 of \d+, nothing was recorded: if grep/);
    expect(text.err).toMatch(/\nThe summary so far, through event \d+:\nso far\n$/);
    const { error } = JSON.parse(json.out);
    expect(error).toMatchObject({ code: 'SYSTEM', round: 3, summary: 'so far' });
    expect(error.through).toBeGreaterThan(1);
    expect(await temp.store.readEvents('s')).toHaveLength(60);
  });

  test.each([
    ['prints nothing', 'true', 'printed no summary'],
    ['is ended by a signal', 'kill -TERM $$', 'exited with 143'],
  ])('given one that %s, then that is a failure', async (_, summarizer, message) => {
    const temp = tempStore(aSession().withMessages(9));

    const { code, err } = await run(temp, ['--summarizer', summarizer]);

    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(await temp.store.readEvents('s')).toHaveLength(9);
  });

  test('given events that are appended while it runs, then no lock is in their way, and the summary does not cover them', async () => {
    const temp = tempStore(aSession().withMessages(9));
    const pending = run(temp, ['--summarizer', 'touch begun; until [ -e go ]; do sleep 0.05; done; echo S']);
    await expect.poll(() => existsSync(join(dirname(temp.root), 'begun'))).toBe(true);
    await temp.store.appendEvent('s', { type: 'message', payload: { role: 'user', content: 'meanwhile' } });
    writeFileSync(join(dirname(temp.root), 'go'), '');

    expect((await pending).code).toBe(0);
    const replayed = (await temp.store.readReplayEvents('s')).map(({ sequence }) => sequence);
    expect(replayed).toEqual([11, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('given a rewind while it runs, then the plan is refused', async () => {
    const temp = tempStore(aSession().withMessages(9));
    const pending = run(temp, ['--summarizer', 'touch begun; until [ -e go ]; do sleep 0.05; done; echo S']);
    await expect.poll(() => existsSync(join(dirname(temp.root), 'begun'))).toBe(true);
    await temp.store.truncateEvents('s', 2);
    writeFileSync(join(dirname(temp.root), 'go'), '');

    expect((await pending).code).toBe(7);
    expect(await temp.store.readEvents('s')).toHaveLength(2);
  });
});

describe('finding 25: a summary from elsewhere for more than one prompt', () => {
  const LIMIT = ['--max-prompt-chars', '4000'];

  test('given nothing more, then it is refused before it is read, and nothing is recorded', async () => {
    const temp = tempStore(manyMessages(60));

    const { code, err } = await run(temp, ['--summary', 'S', ...LIMIT]);
    const { error } = JSON.parse((await run(temp, ['--summary', 'S', ...LIMIT, '--json'])).out);

    expect([code, err]).toEqual([6, expect.stringMatching(/part 1 shows \d+ of 54 events/)]);
    expect([error.code, error.plan.compactableCount]).toEqual(['INCOMPLETE', 54]);
    expect(await temp.store.readEvents('s')).toHaveLength(60);
  });

  test('given --all-parts-shown, then it is recorded as one that saw all', async () => {
    const temp = tempStore(manyMessages(60));

    const { code, out } = await run(temp, ['--summary', 'S', ...LIMIT, '--all-parts-shown']);

    expect([code, out]).toEqual([0, expect.stringContaining('All of them were shown')]);
  });

  test('given --allow-partial, then it is recorded, and says how much its writer saw', async () => {
    const temp = tempStore(manyMessages(60));

    const { code, out } = await run(temp, ['--summary', 'S', ...LIMIT, '--allow-partial']);

    expect([code, out]).toEqual([0, expect.stringMatching(/At most \d+ of 54 were shown to its writer/)]);
    expect(JSON.parse(Buffer.from((await lastOf(temp))?.payload ?? []).toString()).truncated).toBe(true);
  });
});

describe('finding 26: compact after a compaction', () => {
  test('given --preserve-last 1 right after it, then the new summary replaces the old, and the last message stays', async () => {
    const temp = tempStore(aSession().withMessages(9));
    await run(temp, ['--summary', 'old']);

    const { out } = await run(temp, ['--preserve-last', '1', '-q']);
    await run(temp, ['--preserve-last', '1', '--summary', 'new']);

    expect(entriesIn(out)).toEqual([10, 4, 5, 6, 7, 8]);
    expect((await temp.store.readReplayEvents('s')).map(({ sequence }) => sequence)).toEqual([11, 9]);
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

const SEES_NUMBERS = `cat > prompt
wc -m < prompt >> sizes
sed '1,/^===== The records =====$/d' prompt | sed -n 's/^\\[\\([0-9]*\\)\\] .*/\\1/p' | tee -a seen
`;

function manyMessages(count: number) {
  let session = aSession();
  for (let at = 1; at <= count; at += 1) {
    session = session.withEvent({ payload: JSON.stringify({ role: 'user', content: `${at} ${'word '.repeat(50)}` }) });
  }
  return session;
}

/** Gives events of ten kinds, some of them long, in turns whose calls have the same ids. */
function tenKinds(count: number) {
  const long = 'all work and no play. '.repeat(200);
  const kinds: readonly ((at: number) => readonly [type: string, payload: unknown])[] = [
    (at) => ['message', { role: 'user', content: at % 3 === 0 ? long : `do ${at}` }],
    (at) => ['message', { role: 'assistant', content: `[${at + 1}] I do\n[${at}] it` }],
    (at) => ['tool_call', { id: 'call_0', name: 'bash', arguments: JSON.stringify({ command: `make ${at}` }) }],
    () => ['permission', { toolName: 'bash', action: 'allow' }],
    (at) => ['session_checkpoint', { tool: 'bash', files: [{ path: `src/${at}.ts`, absent: true }] }],
    (at) => ['tool_result', { toolCallId: 'call_0', name: 'bash', status: 'ok', output: at % 2 === 0 ? long : 'ok' }],
    () => ['provider_usage', { promptTokens: 5, completionTokens: 6, totalTokens: 11 }],
    (at) => ['error', { message: `error ${at}` }],
    (at) => ['specialist_start', { specialistName: 'reviewer', childSessionId: `c${at}` }],
    (at) => ['goal_updated', { objective: `goal ${at}` }],
    (at) => ['somebody_elses', { at }],
  ];
  let session = aSession();
  for (let at = 0; at < count; at += 1) {
    const [type, payload] = (kinds[at % kinds.length] as (typeof kinds)[number])(at);
    session = session.withEvent({ type, payload: JSON.stringify(payload) });
  }
  return session;
}

function entriesIn(prompt: string): readonly number[] {
  const entries = prompt.slice(prompt.lastIndexOf('===== The records ====='));
  return [...entries.matchAll(/^\[(\d+)\] /gm)].map((match) => Number(match[1]));
}

async function lastOf(temp: TempStore) {
  return (await temp.store.readEvents('s')).at(-1);
}

function summaryOf(payload: Uint8Array | undefined): string {
  return JSON.parse(Buffer.from(payload ?? []).toString()).summary;
}
