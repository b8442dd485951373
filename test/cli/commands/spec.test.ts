import { describe, expect, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

function run(temp: TempStore, argv: readonly string[], stdin = '') {
  return runCommandLine(['spec', ...argv], { root: temp.root, stdin });
}

describe('spec record', () => {
  test('given a draft and then an approval, then what was given stays, and both are events', async () => {
    const temp = tempStore(aSession('s'));
    const draft = [
      '--spec-id',
      'login',
      '--spec-file',
      'login.md',
      '--spec-status',
      'draft',
      '--spec-draft-model',
      'm',
    ];

    await run(temp, ['record', 's', ...draft]);
    const { out } = await run(temp, ['record', 's', '--spec-status', 'approved', '--spec-comment', 'good', '--json']);

    const { session, event } = await documentOf('spec record', out);
    expect(session).toMatchObject({
      specId: 'login',
      specFilePath: 'login.md',
      specStatus: 'approved',
      specUserComment: 'good',
    });
    expect(event).toMatchObject({
      type: 'spec_approved',
      sequence: 2,
      payload: { specId: 'login', specDraftModelId: 'm' },
    });
  });
});

describe('spec implement', () => {
  test('given a recorded spec, then one session is made for it, with the prompt and what is known', async () => {
    const temp = tempStore(
      aSession('s').withMetadata({ specId: 'login', specFilePath: 'login.md', cwd: '/work', modelId: 'm' }),
    );

    const first = await run(temp, ['implement', 's', '--prompt', 'Do it', '--json']);
    const second = await run(temp, ['implement', 's', '--prompt', '-'], 'Do it');

    const { session, event } = await documentOf('spec implement', first.out);
    expect(session).toMatchObject({
      sessionKind: 'spec-impl',
      specId: 'login',
      specFilePath: 'login.md',
      cwd: '/work',
    });
    expect(event).toMatchObject({ sequence: 1, type: 'message', payload: { content: 'Do it', role: 'user' } });
    expect(second).toMatchObject({
      out: `${session.sessionId}\n`,
      err: expect.stringContaining('It was there already'),
    });
    expect(await temp.store.readEvents(session.sessionId)).toHaveLength(1);
  });

  test('given another --spec-id, then it is another session', async () => {
    const temp = tempStore(aSession('s').withMetadata({ specId: 'login' }));

    const one = await run(temp, ['implement', 's', '--prompt', 'x', '-q']);
    const other = await run(temp, ['implement', 's', '--prompt', 'x', '--spec-id', 'logout', '-q']);

    expect(one.out).not.toBe(other.out);
  });
});

describe('spec show', () => {
  test('given a spec, then what is known of it is shown, safely, and nothing else', async () => {
    const temp = tempStore(
      aSession('s').withMetadata({ specId: 'login', specStatus: 'rejected', specRejectReason: 'too \u001b[1mlong' }),
    );

    expect((await run(temp, ['show', 's'])).out).toBe(
      ['session     s', 'spec        login', 'status      rejected', 'rejected    too \\u{1b}[1mlong', ''].join('\n'),
    );
  });

  test('given the last event about it, then --json has it', async () => {
    const temp = tempStore(aSession('s'));
    await run(temp, ['record', 's', '--spec-id', 'x', '--spec-status', 'draft']);
    await temp.store.appendEvent('s', { type: 'message' });

    expect((await documentOf('spec show', (await run(temp, ['show', 's', '--json'])).out)).event.sequence).toBe(1);
  });

  test('given none, then that is said', async () => {
    const temp = tempStore(aSession('s'));

    expect((await run(temp, ['show', 's'])).err).toBe('Session s has no spec.\n');
  });
});
