import { describe, expect, test } from 'vitest';
import { documentOf, errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

function aStore() {
  return tempStore([
    aSession('root').withMessages(9).withMetadata({ title: 'The root', updatedAt: '2026-07-09T08:00:00Z' }),
    below('root', 'fork', 'fork').withMetadata({ title: 'Fork', forkedFromSequence: 4 }),
    below('root', 'scout', 'child').withMetadata({ title: 'Scout', spawnedFromSequence: 7 }),
    below('fork', 'deep', 'fork').withMetadata({ title: 'Deep', forkedFromSequence: 1 }),
    below('root', 'spec', 'spec-impl').withMetadata({ title: 'Spec' }),
    below('gone', 'orphan', 'side').withMetadata({ title: 'Orphan', forkedFromSequence: 2 }),
  ]);
}

function below(parent: string, id: string, sessionKind: string): SessionBuilder {
  return aSession(id).withMetadata({ sessionKind, parentSessionId: parent, updatedAt: '2026-07-08T08:00:00Z' });
}

describe('tree, without a session', () => {
  test('given sessions of every kind, then each stands under its parent, latest departure first', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree'], { root });

    expect(run).toMatchObject({
      code: 0,
      out: [
        'SESSION     TITLE     KIND       FROM                       EVENTS  UPDATED',
        'root        The root  regular                                    9  2026-07-09T08:00:00Z',
        '├─ scout    Scout     child      event 7                         0  2026-07-08T08:00:00Z',
        '├─ fork     Fork      fork       event 4                         0  2026-07-08T08:00:00Z',
        '│  └─ deep  Deep      fork       event 1                         0  2026-07-08T08:00:00Z',
        '└─ spec     Spec      spec-impl                                  0  2026-07-08T08:00:00Z',
        'orphan      Orphan    side       event 2 of gone (missing)       0  2026-07-08T08:00:00Z',
        '',
      ].join('\n'),
      err: '',
    });
  });

  test('given a terminal that has no such characters, then the strokes are ASCII', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree'], { root, env: { LANG: 'C' } });

    expect(run.out).toContain('\n|  `- deep  ');
    expect(run.out).toMatch(/^[\x20-\x7e\n]*$/);
  });

  test('given --json, then trees are nested and the path is empty', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', '--json'], { root });

    const { path, trees } = await documentOf('tree', run.out);
    expect(path).toEqual([]);
    expect(trees.map(outline)).toEqual([
      [
        'root',
        [
          ['scout', []],
          ['fork', [['deep', []]]],
          ['spec', []],
        ],
      ],
      ['orphan', []],
    ]);
  });

  test('given -q, then ids go out, parents first', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', '-q'], { root });

    expect(run).toMatchObject({ code: 0, out: 'root\nscout\nfork\ndeep\nspec\norphan\n', err: '' });
  });

  test('given --kind, then what leads to a match stays and the rest goes', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', '-q', '--kind', 'fork'], { root });

    expect(run.out).toBe('root\nfork\ndeep\n');
  });

  test('given no store, then it is empty', async () => {
    const text = await runCommandLine(['tree'], { root: '/nowhere' });
    const json = await runCommandLine(['tree', '--json'], { root: '/nowhere' });

    expect(text).toMatchObject({ code: 0, out: '', err: 'No sessions in /nowhere to show.\n' });
    expect(JSON.parse(json.out)).toEqual({ schemaVersion: 1, path: [], trees: [] });
  });

  test('given a damaged session, then the good ones are shown, it is named, and the exit code is 5', async () => {
    const { root } = tempStore([aSession('good'), aSession('bad').withMetadataText('{')]);

    const run = await runCommandLine(['tree', '-q'], { root });

    expect(run).toMatchObject({ code: 5, out: 'good\n' });
    expect(run.err).toMatch(/^warning: Session bad: .*is not JSON\n$/);
  });

  test('given sessions that are each other’s ancestors, then the others are shown and the ring is named', async () => {
    const { root } = tempStore([aSession('good'), below('b', 'a', 'fork'), below('a', 'b', 'fork')]);

    const run = await runCommandLine(['tree', '-q'], { root });

    expect(run.code).toBe(5);
    expect(run.out).toBe('good\n');
    expect(run.err).toMatch(/^warning: Sessions are each other's ancestors: (a, b|b, a)\n$/);
  });

  test('given forks of forks, 3,000 deep, then nothing overflows', async () => {
    const chain = Array.from({ length: 3000 }, (_, at) => below(at === 0 ? '' : `s${at - 1}`, `s${at}`, 'fork'));
    const { root } = tempStore(chain);

    const text = await runCommandLine(['tree'], { root });
    const json = await runCommandLine(['tree', '--json'], { root });

    expect(text.out.split('\n')).toHaveLength(3002);
    expect(text.out).toContain('(2999) └─ s2999 ');
    expect(json.code).toBe(0);
    expect(json.out).toContain('"s2999"');
  });
});

describe('tree, of a session', () => {
  test('given a session with ancestors, then the path down to it comes first', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', 'fork'], { root });

    expect(run.out).toBe(
      [
        'SESSION     TITLE     KIND     FROM     EVENTS  UPDATED',
        'root        The root  regular                9  2026-07-09T08:00:00Z',
        '└─ fork     Fork      fork     event 4       0  2026-07-08T08:00:00Z',
        '   └─ deep  Deep      fork     event 1       0  2026-07-08T08:00:00Z',
        '',
      ].join('\n'),
    );
  });

  test('given --json, then path has the ancestors from the root', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', 'deep', '--json'], { root });

    const { path, trees } = await documentOf('tree', run.out);
    expect(path.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(['root', 'fork']);
    expect(trees.map(outline)).toEqual([['deep', []]]);
  });

  test('given a session in a ring, then it is an error with the ring', async () => {
    const { root } = tempStore([below('b', 'a', 'fork'), below('a', 'b', 'fork'), below('a', 'c', 'fork')]);

    const run = await runCommandLine(['tree', 'c', '--json'], { root });

    expect(run.code).toBe(5);
    expect(errorOf(run.out)).toMatchObject({ code: 'CYCLE', path: expect.arrayContaining(['a', 'b']) });
  });

  test('given a name that nobody has, then it is not found', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['tree', 'nobody', '--json'], { root });

    expect(run.code).toBe(3);
    expect(errorOf(run.out).code).toBe('SESSION_NOT_FOUND');
  });
});

interface Node {
  readonly session: { readonly sessionId: string };
  readonly children: readonly Node[];
}

function outline({ session, children }: Node): unknown {
  return [session.sessionId, children.map(outline)];
}
