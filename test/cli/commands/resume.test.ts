import { describe, expect, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { type CliSurroundings, runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

function run(temp: TempStore, argv: readonly string[], surroundings: CliSurroundings = {}) {
  return runCommandLine(['resume', ...argv], { root: temp.root, ...surroundings });
}

describe('resume', () => {
  test('given a session, then what it is and the exact command to go on with are printed', async () => {
    const temp = tempStore(aSession('s').withMessages(3).withMetadata({ title: "It's work", cwd: "/it's here" }));

    expect(await run(temp, ['s'])).toMatchObject({
      code: 0,
      err: '',
      out: [
        'session     s',
        "title       It's work",
        "folder      /it's here",
        'context     3 events',
        `go on with  cd '/it'\\''s here' && zero exec --resume s`,
        '',
      ].join('\n'),
    });
  });

  test('given no session and no terminal, then it is the latest that can be resumed', async () => {
    const temp = tempStore([
      aSession('old').withMetadata({ updatedAt: '2026-07-09T08:00:00Z' }),
      aSession('new').withMetadata({ updatedAt: '2026-07-09T09:00:00Z' }),
      aSession('side').withMetadata({ sessionKind: 'side', updatedAt: '2026-07-09T10:00:00Z' }),
    ]);

    expect((await run(temp, ['-q'])).out).toBe('new\n');
  });

  test('given a compacted session, then the context is what a model sees', async () => {
    const temp = tempStore(aSession('s').withMessages(9));
    await runCommandLine(['compact', 's', '--summary', 'all of it'], { root: temp.root });

    const { contextEvents } = await documentOf('resume', (await run(temp, ['s', '--json'])).out);

    expect(contextEvents).toBe(7);
  });

  test('given a title and messages that would command the terminal, then they are shown, not obeyed', async () => {
    const payload = '{"role":"user","content":"\\u001b[2J\\u202e x"}';
    const temp = tempStore(aSession('s').withEvent({ payload }).withMetadata({ title: '\u001b[2J\n' }));

    const { out } = await run(temp, ['s']);
    const prompt = await run(temp, ['s', '--prompt', 'go']);

    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(out + prompt.out + prompt.err).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
  });
});

describe('resume --prompt', () => {
  test('given a request, then it comes last and as it was typed, after what a model should know', async () => {
    const temp = tempStore(aSession('s').withMessages(2));

    const { out, err } = await run(temp, ['s', '--prompt', 'first\n\tsecond']);

    expect(out).toMatch(/^Continuing session s\..*\n- \[1\] message user: event 1\n- \[2\] message user: event 2\n/);
    expect(out).toMatch(/\n\nRequest:\nfirst\n\tsecond\n$/);
    expect(err).toBe('Going on with s: 2 events of context.\n');
  });

  test('given -, then the request is read from stdin', async () => {
    const temp = tempStore(aSession('s').withMessages(1));

    const { out } = await run(temp, ['s', '--prompt', '-', '--json'], { stdin: 'from\nstdin\n' });

    expect((await documentOf('resume', out)).prompt).toMatch(/Request:\nfrom\nstdin$/);
  });

  test('given secrets in the session and in the request, then neither is printed', async () => {
    const payload = '{"role":"user","content":"password=hunter2hunter2"}';
    const temp = tempStore(aSession('s').withEvent({ payload }));

    const { out } = await run(temp, ['s', '--prompt', 'use password=hunter3hunter3']);

    expect(out).not.toContain('hunter');
  });
});

describe('resume --fork', () => {
  test('given a session of any kind, then a copy is made and resumed, with the context of the original', async () => {
    const temp = tempStore(aSession('s').withMessages(3).withMetadata({ sessionKind: 'side' }));

    const { out } = await run(temp, ['s', '--fork', '--json']);

    const { session, contextEvents, command } = await documentOf('resume', out);
    expect(session).toMatchObject({ sessionKind: 'fork', parentSessionId: 's' });
    expect([contextEvents, command]).toEqual([3, ['zero', 'exec', '--resume', session.sessionId]]);
  });

  test('given a log that cannot be read, then no fork is left behind', async () => {
    const temp = tempStore(aSession('s').withLine('not json').withMessages(1));

    expect((await run(temp, ['s', '--fork'])).code).toBe(5);
    expect(await temp.store.list()).toHaveLength(1);
  });

  test('given a program that is not there, then no fork is left behind either', async () => {
    const temp = tempStore(aSession('s').withMessages(1));

    expect((await run(temp, ['s', '--fork', '--exec', 'no-such-program'], { env: { PATH: '/bin' } })).code).toBe(3);
    expect(await temp.store.list()).toHaveLength(1);
  });
});

describe('resume --exec', () => {
  test('given --json or --prompt, then they do not go together', async () => {
    const temp = tempStore(aSession('s'));

    expect((await run(temp, ['s', '--json', '--exec'])).code).toBe(2);
    expect((await run(temp, ['s', '--prompt', 'x', '--exec'])).code).toBe(2);
  });

  test('given a folder that is gone, then nothing is started', async () => {
    const temp = tempStore(aSession('s').withMetadata({ cwd: '/no/such/folder' }));

    const { code, err } = await run(temp, ['s', '--exec', 'true'], { env: { PATH: '/bin:/usr/bin' } });

    expect([code, err]).toEqual([3, expect.stringContaining('/no/such/folder')]);
  });
});
