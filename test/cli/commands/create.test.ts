import { describe, expect, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const FLAGS = {
  '--id': ['sessionId', 'made'],
  '--kind': ['sessionKind', 'spec-impl'],
  '--title': ['title', 'A title'],
  '--cwd': ['cwd', '/somewhere'],
  '--model': ['modelId', 'm1'],
  '--provider': ['provider', 'p1'],
  '--tag': ['tag', 't1'],
  '--depth': ['depth', 2],
  '--agent': ['agentName', 'scout'],
  '--task': ['taskId', 'task_1'],
  '--root-session': ['rootSessionId', 'r1'],
  '--forked-from-event': ['forkedFromEventId', 's:3'],
  '--forked-from-sequence': ['forkedFromSequence', 3],
  '--spawned-from-event': ['spawnedFromEventId', 's:4'],
  '--spawned-from-sequence': ['spawnedFromSequence', 4],
  '--spec-id': ['specId', 'login'],
  '--spec-file': ['specFilePath', 'specs/login.md'],
  '--spec-status': ['specStatus', 'approved'],
  '--spec-draft-model': ['specDraftModelId', 'm2'],
  '--spec-draft-reasoning': ['specDraftReasoning', 'high'],
  '--spec-comment': ['specUserComment', 'good'],
  '--spec-reject-reason': ['specRejectReason', 'none'],
  '--spec-source': ['specSourceSessionId', 's'],
  '--spec-impl': ['specImplSessionId', 's2'],
} as const;

describe('create', () => {
  test('given every flag, then the metadata have every member', async () => {
    const { root } = tempStore();
    const argv = Object.entries(FLAGS).flatMap(([flag, [, value]]) => [flag, String(value)]);

    const run = await runCommandLine(['create', ...argv, '--json'], { root });

    const { session } = await documentOf('create', run.out);
    expect(session).toEqual({
      ...Object.fromEntries(Object.values(FLAGS)),
      createdAt: '2026-07-09T12:00:00Z',
      updatedAt: '2026-07-09T12:00:00Z',
      eventCount: 0,
      live: session.live,
    });
  });

  test('given no --cwd, then it is the present folder; a relative one is taken from there', async () => {
    const { root, store } = tempStore();

    await runCommandLine(['create', '--id', 'a'], { root, cwd: '/here' });
    await runCommandLine(['create', '--id', 'b', '--cwd', '../there'], { root, cwd: '/here' });

    expect([(await store.get('a'))?.cwd, (await store.get('b'))?.cwd]).toEqual(['/here', '/there']);
  });

  test('given --parent alone, then it is a child, and both logs say so', async () => {
    const { root, store } = tempStore(aSession('s').withMessages(2).withMetadata({ cwd: '/work' }));

    const run = await runCommandLine(['create', '--parent', 's', '--id', 'c', '--agent', 'scout', '--prompt', 'look'], {
      root,
    });

    expect(run).toMatchObject({ code: 0, out: 'c\n', err: 'A child of s.\n' });
    expect(await store.get('c')).toMatchObject({ sessionKind: 'child', cwd: '/work', spawnedFromSequence: 2 });
    const [parent, child] = [await store.readEvents('s'), await store.readEvents('c')];
    expect([parent.at(-1)?.type, child.at(-1)?.type]).toEqual(['session_child', 'session_child']);
  });

  test('given --parent and another kind, then the metadata name it, and no log is touched', async () => {
    const { root, store, text } = tempStore(aSession('s').withMessages(2).withMetadata({ rootSessionId: 'top' }));
    const before = text('events.jsonl');

    await runCommandLine(['create', '--parent', 's', '--id', 'c', '--kind', 'spec-impl'], { root });

    expect(await store.get('c')).toMatchObject({
      parentSessionId: 's',
      rootSessionId: 'top',
      sessionKind: 'spec-impl',
    });
    expect(text('events.jsonl')).toBe(before);
  });

  test('given --kind regular, then it is a conversation like any other', async () => {
    const { root, store } = tempStore();

    await runCommandLine(['create', '--kind', 'regular', '--id', 'c'], { root });

    expect((await store.get('c'))?.sessionKind).toBeUndefined();
  });
});

describe('rename', () => {
  test('given a title, then the old one is told, and the session keeps its place', async () => {
    const { root, store } = tempStore(aSession('s').withMetadata({ title: 'Old' }));

    const run = await runCommandLine(['rename', 's', ' New '], { root });

    expect(run).toMatchObject({ code: 0, out: 's\n', err: 'It was "Old".\n' });
    expect(await store.get('s')).toMatchObject({ title: 'New', updatedAt: '2026-07-09T11:00:00Z' });
  });

  test.each(['', '  '])('given %j, then it is refused', async (title) => {
    const { root } = tempStore(aSession('s'));

    expect((await runCommandLine(['rename', 's', title], { root })).code).toBe(2);
  });
});

describe('fork', () => {
  test('given a session, then the id goes to stdout and what it is a fork of to stderr', async () => {
    const { root, store } = tempStore(aSession('s').withMessages(3).withMetadata({ title: 'The work' }));

    const run = await runCommandLine(['fork', 's', '--id', 'f'], { root });

    expect(run).toMatchObject({ code: 0, out: 'f\n', err: 'A fork of s, after event 3.\n' });
    expect(await store.get('f')).toMatchObject({ title: 'The work (fork)', sessionKind: 'fork' });
  });

  test('given every flag, then they win over what the parent has', async () => {
    const { root, store } = tempStore(
      aSession('s').withMessages(3).withMetadata({ cwd: '/a', modelId: 'm', tag: 't' }),
    );
    const flags = ['--title', 'T', '--cwd', '/b', '--model', 'm2', '--provider', 'p', '--tag', 'u', '--side'];

    await runCommandLine(['fork', 's', '--at', '-1', '--id', 'f', ...flags], { root });

    expect(await store.get('f')).toMatchObject({
      sessionKind: 'side',
      title: 'T',
      cwd: '/b',
      modelId: 'm2',
      provider: 'p',
      tag: 'u',
      forkedFromSequence: 2,
    });
    expect(await store.readEvents('f')).toHaveLength(3);
  });

  test('given a point before the damage, then it is a fork like any other', async () => {
    const { root } = tempStore(aSession('s').withMessages(2).withLine('not json'));

    expect((await runCommandLine(['fork', 's', '--at', '2', '-q'], { root })).code).toBe(0);
    expect((await runCommandLine(['fork', 's', '-q'], { root })).code).toBe(5);
  });
});
