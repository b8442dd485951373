import { cpSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixedClock } from '../../support/fixed-clock.js';
import { documentOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

function below(parent: string, id: string, sessionKind: string, spawnedFromSequence = 1): SessionBuilder {
  return aSession(id).withMetadata({
    sessionKind,
    parentSessionId: parent,
    rootSessionId: 'root',
    spawnedFromSequence,
  });
}

describe('children', () => {
  test('given children and forks, then only the children are listed, the one spawned last first', async () => {
    const { root } = tempStore([
      aSession('root'),
      below('root', 'early', 'child', 2),
      below('root', 'late', 'child', 9),
      below('root', 'fork', 'fork'),
      below('late', 'grandchild', 'child'),
    ]);

    expect((await runCommandLine(['children', 'root', '-q'], { root })).out).toBe('late\nearly\n');
  });

  test('given none, then that is said', async () => {
    const { root } = tempStore(aSession('root'));

    expect(await runCommandLine(['children', 'root'], { root })).toMatchObject({
      code: 0,
      out: '',
      err: 'Session root has no children.\n',
    });
  });

  test('given a session that cannot be read, then it might be one of them: it is told, and the exit code is 5', async () => {
    const { root } = tempStore([
      aSession('root'),
      below('root', 'good', 'child'),
      aSession('bad').withMetadataText('{'),
    ]);

    const run = await runCommandLine(['children', 'root', '--json'], { root });

    const { sessions, unreadable } = await documentOf('children', run.out);
    expect(run.code).toBe(5);
    expect([sessions.map(idOf), unreadable.map(idOf)]).toEqual([['good'], ['bad']]);
    expect(run.err).toContain('bad');
  });
});

describe('lineage', () => {
  test('given a fork of a fork, then the first ancestor comes first', async () => {
    const { root } = tempStore([aSession('root'), below('root', 'mid', 'fork'), below('mid', 'low', 'fork')]);

    expect((await runCommandLine(['lineage', 'low', '-q'], { root })).out).toBe('root\nmid\nlow\n');
  });

  test('given an ancestor that cannot be read, then what is below it is shown, and it is told', async () => {
    const { root } = tempStore([
      aSession('root').withMetadataText('{'),
      below('root', 'mid', 'fork'),
      below('mid', 'low', 'fork'),
    ]);

    const run = await runCommandLine(['lineage', 'low', '--json'], { root });

    const { sessions, unreadable } = await documentOf('lineage', run.out);
    expect([run.code, sessions.map(idOf), unreadable.map(idOf)]).toEqual([5, ['mid', 'low'], ['root']]);
  });

  test('finding 37: given an ancestor that is gone, then what is there is shown, and that one is told: exit 0', async () => {
    const { root } = tempStore([below('gone', 'mid', 'fork'), below('mid', 'low', 'fork')]);

    const json = await runCommandLine(['lineage', 'low', '--json'], { root });
    const text = await runCommandLine(['lineage', 'low'], { root });

    const { sessions, unreadable } = await documentOf('lineage', json.out);
    expect([json.code, sessions.map(idOf)]).toEqual([0, ['mid', 'low']]);
    expect(unreadable).toMatchObject([{ sessionId: 'gone', code: 'SESSION_NOT_FOUND' }]);
    expect(text.err).toBe('warning: There is no session gone, which session mid names as its parent\n');
    expect(text.out).toMatch(/^mid .*\nlow .*\ngone .* missing$/m);
  });

  test('finding 37: given an ancestor that has no id, then it is told as damage of the one that names it', async () => {
    const { root } = tempStore([below('../up', 'low', 'fork')]);

    const { code, out } = await runCommandLine(['lineage', 'low', '--json'], { root });

    const { sessions, unreadable } = await documentOf('lineage', out);
    expect([code, sessions.map(idOf)]).toEqual([5, ['low']]);
    expect(unreadable).toMatchObject([{ sessionId: '../up', code: 'INVALID_ID' }]);
  });
});

describe('finding 37: a session whose parent is gone', () => {
  test('given show, then the header says which of its kin are missing', async () => {
    const { root } = tempStore([below('gone', 'low', 'fork')]);

    const { code, out } = await runCommandLine(['show', 'low'], { root });

    expect(code).toBe(0);
    expect(out).toMatch(/^parent +gone \(missing\), from event 1\nroot +root \(missing\)$/m);
  });

  test('given tree, then its row does, and one that cannot be read is not called missing', async () => {
    const { root } = tempStore([
      below('gone', 'low', 'fork'),
      aSession('bad').withMetadataText('{'),
      below('bad', 'lower', 'fork'),
      aSession('impl').withMetadata({ sessionKind: 'spec-impl', specSourceSessionId: 'gone' }),
    ]);

    const { out } = await runCommandLine(['tree'], { root });

    expect(out).toMatch(/^low .* event 1 of gone \(missing\) /m);
    expect(out).toMatch(/^lower .* event 1 of bad \(unreadable\) /m);
    expect(out).toMatch(/^impl .* gone \(missing\) /m);
  });
});

describe('info', () => {
  test('given a store, then versions, counts and the lock are told, and nothing that was said', async () => {
    const { root } = tempStore([
      aSession('one').withMessages(2).withMetadata({ title: 'Private', cwd: '/home/somebody/secret' }),
      below('one', 'two', 'child'),
      aSession('bad').withMetadataText('{'),
    ]);

    const json = await runCommandLine(['info', '--json'], { root, env: { ZERO_CHECKPOINTS: 'off' } });
    const text = await runCommandLine(['info'], { root });

    expect(await documentOf('info', json.out)).toMatchObject({
      root,
      rootExists: true,
      checkpoints: false,
      sessions: { child: 1, regular: 1 },
      unreadable: 1,
    });
    expect(text.out).toContain('1 child, 1 regular, 1 unreadable\n');
    expect(text.out + json.out).not.toMatch(/Private|somebody/);
  });

  test('finding 44: given copies and left-overs, then they are listed, and list counts those that it sees', async () => {
    const { root, path } = tempStore([
      aSession('s').withMessages(1),
      aSession('onlylog').withMessages(1).withoutMetadata(),
    ]);
    const put = (name: string) => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), '');
    };
    cpSync(path(), join(root, 's (1)'), { recursive: true });
    for (const name of ['s/events (conflicted copy).jsonl', 's/checkpoints/blobs/x.tmp', 's/session.lock']) put(name);
    for (const name of ['s/search-index.json', `s/checkpoints/blobs/${'0'.repeat(64)}`, 's/.zs/kept/x']) put(name);
    for (const name of ['lost/checkpoints/blobs/y', 'onlylog/metadata (1).json', 'claim/session.lock']) put(name);
    for (const name of ['.zs-aside-01/notes.txt', '.zs-new-01/events.jsonl', '.zs-new-02/x', 'old.zip']) put(name);
    for (const name of ['.zs-locks/s/owner', '.DS_Store']) put(name);
    utimesSync(join(root, '.zs-new-01'), new Date('2026-07-09'), new Date('2026-07-09'));
    utimesSync(join(root, '.zs-new-02'), fixedClock().now(), fixedClock().now());
    symlinkSync('s', join(root, 'to s'));

    const list = await runCommandLine(['list'], { root });
    const info = await runCommandLine(['info'], { root });
    const { leftOvers } = await documentOf('info', (await runCommandLine(['info', '--json'], { root })).out);

    expect(list.err).toContain('7 entries of the store are no session (a copy, a left-over): zero-sessions info lists');
    expect(leftOvers.map((each: { readonly path: string }) => each.path)).toEqual([
      '.DS_Store',
      '.zs-aside-01',
      '.zs-new-01',
      'lost',
      'old.zip',
      'onlylog/metadata (1).json',
      's (1)',
      's/checkpoints/blobs/x.tmp',
      's/events (conflicted copy).jsonl',
      'to s',
    ]);
    expect(info.out).toMatch(/^no session +\.DS_Store\n +\.zs-aside-01\/\n/m);
    expect(info.out).toMatch(/\n +to s \(link\)\n$/);
  });

  test('finding 44: given only sessions, then nothing is said of it', async () => {
    const { root } = tempStore([aSession('s'), aSession('t')]);

    expect((await runCommandLine(['list'], { root })).err).toBe('');
    expect((await runCommandLine(['info'], { root })).out).not.toContain('no session');
  });

  test('given no store yet, then that is no error', async () => {
    const { root } = tempStore();

    expect((await runCommandLine(['info'], { root })).out).toContain(`${root} (not there yet)\n`);
  });

  test('given --no-flock, then it says so', async () => {
    const { root } = tempStore();

    expect(JSON.parse((await runCommandLine(['info', '--no-flock', '--json'], { root })).out).lock).toBe('off');
  });
});

describe('path', () => {
  test('given a session that cannot be read, then its folder is printed all the same', async () => {
    const { root } = tempStore(aSession('bad').withMetadataText('{'));

    expect(await runCommandLine(['path', 'bad'], { root })).toMatchObject({ code: 0, out: `${root}/bad\n` });
  });
});

function idOf({ sessionId }: { readonly sessionId: string }): string {
  return sessionId;
}
