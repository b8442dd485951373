import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

// Each row of the tables "Sessions are named" and "Positions" (CLI.md), through the arguments of a command.

function at(hour: number) {
  return `2026-07-09T${String(hour).padStart(2, '0')}:00:00Z`;
}

/** Newest first: alpha, alpine, fork, latest, Alpha; a child that is newer than all; one that is damaged. */
function aStore() {
  return tempStore([
    aSession('alpha').withMetadata({ title: 'First things', updatedAt: at(9) }),
    aSession('alpine').withMetadata({ title: 'alpha', updatedAt: at(8) }),
    aSession('fork').withMetadata({
      title: 'twins',
      sessionKind: 'fork',
      parentSessionId: 'alpine',
      rootSessionId: 'alpha',
      updatedAt: at(7),
    }),
    aSession('latest').withMetadata({ title: 'twins', updatedAt: at(6) }),
    aSession('Alpha').withMetadata({ title: '  spaced title  ', updatedAt: at(5) }),
    aSession('scout').withMetadata({ sessionKind: 'child', parentSessionId: 'fork', updatedAt: at(10) }),
    aSession('broken').withMetadataText('{'),
  ]);
}

describe('the name of a session', () => {
  test.each([
    ['latest', 'alpha'],
    ['@{-0}', 'alpha'],
    ['@{-1}', 'alpine'],
    ['@{-4}', 'Alpha'],
    ['@0', 'alpha'],
    ['@4', 'Alpha'],
    ['First th…', 'alpha'],
    ['parent:fork', 'alpine'],
    ['parent:parent:scout', 'alpine'],
    ['root:fork', 'alpha'],
    ['root:alpha', 'alpha'],
    ['parent:id:fork', 'alpine'],
    ['id:latest', 'latest'],
    ['id:broken', 'broken'],
    ['title:alpha', 'alpine'],
    ['title:spaced title', 'Alpha'],
    ['alpha', 'alpha'],
    ['Alpha', 'Alpha'],
    ['broken', 'broken'],
    ['bro', 'broken'],
    ['alpi', 'alpine'],
    ['sc', 'scout'],
    ['First things', 'alpha'],
    [' spaced title ', 'Alpha'],
  ])('given %j, then it is %s', async (name, id) => {
    const { root } = aStore();

    const run = await runCommandLine(['path', name, '-q'], { root });

    expect(run).toMatchObject({ code: 0, out: `${root}/${id}\n` });
  });

  test.each([
    ['alp', ['alpha', 'alpine']],
    ['twins', ['fork', 'latest']],
    ['title:twins', ['fork', 'latest']],
  ])('given %j, which fits more than one, then it exits 2 with the candidates', async (name, candidates) => {
    const { root } = aStore();

    const run = await runCommandLine(['show', name, '--json'], { root });

    expect(run.code).toBe(2);
    expect(errorOf(run.out)).toMatchObject({ code: 'AMBIGUOUS_NAME' });
    expect([...errorOf(run.out).candidates].sort()).toEqual(candidates);
  });

  test.each([
    '@{-5}',
    'parent:alpha',
    'id:alp',
    'id:First things',
    'title:first things',
    'title:alph',
    'nobody',
    'FORK',
  ])('given %j, which fits none, then it exits 3', async (name) => {
    const { root } = aStore();

    const run = await runCommandLine(['show', name, '--json'], { root });

    expect(run.code).toBe(3);
    expect(errorOf(run.out).code).toBe('SESSION_NOT_FOUND');
  });

  test.each(['', '  '])('given %j, which is blank, then it exits 2', async (name) => {
    const { root } = aStore();

    const run = await runCommandLine(['show', name], { root });

    expect(run.code).toBe(2);
  });

  test('given latest in a store without a conversation, then it exits 3', async () => {
    const { root } = tempStore(aSession('scout').withMetadata({ sessionKind: 'child' }));

    const run = await runCommandLine(['show', 'latest'], { root });

    expect(run.code).toBe(3);
  });

  test('given a bare negative number, then it is a name, not a flag', async () => {
    const { root } = tempStore(aSession('one').withMetadata({ title: '-2' }));

    const run = await runCommandLine(['show', '-2', '--json'], { root });

    expect(run.code).toBe(0);
    expect(JSON.parse(run.out).session.sessionId).toBe('one');
  });
});
