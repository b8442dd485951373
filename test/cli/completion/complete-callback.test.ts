import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CompletionRequest } from '../../../src/cli/completion/typed-line.js';
import { parseRequest } from '../../../src/cli/completion/typed-line.js';
import { COMMANDS } from '../../../src/cli/registry.js';
import { HOSTILE_TEXTS } from '../../support/completion-store.js';
import { type CliRun, runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

// What a completion script is told. That shells make of it what they should is tried in test/bin/completion-*.

function aStore(): TempStore {
  return tempStore([
    aSession('one').withMessages(12).withMetadata({ title: 'First', updatedAt: '2026-07-09T11:00:00Z' }),
    aSession('two').withMetadata({ title: 'Second', updatedAt: '2026-07-09T10:00:00Z', tag: 'wip', modelId: 'm-1' }),
    aSession('kid').withMetadata({
      sessionKind: 'child',
      parentSessionId: 'one',
      updatedAt: '2026-07-09T11:30:00Z',
      modelId: 'm-2',
    }),
  ]);
}

describe('the words of a line', () => {
  test('given none, then it is every command, once, with its summary', async () => {
    const lines = await answer(aStore(), ['']);

    expect(words(lines)).toEqual([...new Set(COMMANDS.map(({ name }) => name.split(' ')[0]))]);
    expect(lines).toContain('show\tShow what was said and done in a session');
    expect(lines).toContain('spec\tRecord a spec, and find or make the session that implements it');
  });

  test.each([
    [['l'], ['list', 'lineage', 'ls', 'log']],
    [
      ['spec', ''],
      ['record', 'implement', 'show'],
    ],
    [['checkpoint', 'c'], ['capture']],
    [['log', 'tw'], ['two']],
    [['--root=/nowhere', 'show', ''], []],
    [['nonsense', ''], []],
    [['checkpoint', 'nonsense', ''], []],
    [
      ['list', '--sort', ''],
      ['updated', 'created', 'events', 'title'],
    ],
    [['list', '--sort=c'], ['--sort=created']],
    [['--sort', 'c'], ['created']],
    [['list', '--all='], []],
    [
      ['list', '--kind', 's'],
      ['side', 'spec-draft', 'spec-impl'],
    ],
    [
      ['create', '--model', ''],
      ['m-2', 'm-1'],
    ],
    [['list', '--tag', ''], ['wip']],
    [
      ['show', 'one', '--type', 'goal_c'],
      ['goal_created', 'goal_cleared'],
    ],
    [['schema', 'check'], ['checkpoint']],
    [
      ['schema', 'spec', ''],
      ['record', 'implement', 'show'],
    ],
    [['rename', 'one', ''], []],
    [['list', '--limit', ''], []],
    [['show', '--', '-'], []],
  ])('given %j, then it is %j', async (typed, expected) => {
    expect(words(await answer(aStore(), typed))).toEqual(expected);
  });

  test('given a dash, then it is the flags of the command, but for those that were given and count once', async () => {
    const flags = words(await answer(aStore(), ['list', '--all', '--kind', 'fork', '-q', '--']));

    expect(flags).toEqual(expect.arrayContaining(['--kind', '--cwd', '--json', '--no-redact', '--help']));
    expect(flags).not.toContain('--all');
    expect(flags).not.toContain('--quiet');
  });

  test.each([
    [['list', '--cwd', ''], ':folders'],
    [['--root', 'x'], ':folders'],
    [['compact', 'one', '--summary-file='], ':files'],
    [['checkpoint', 'capture', 'one', 'a.txt', ''], ':files'],
  ])('given %j, then the shell is asked', async (typed, expected) => {
    expect(await answer(aStore(), typed)).toEqual([expected]);
  });
});

describe('sessions', () => {
  test('given a store, then latest and each id, newest first, with age, kind and title', async () => {
    expect(await answer(aStore(), ['show', ''])).toEqual([
      expect.stringMatching(/^latest\t.+ · First$/),
      expect.stringMatching(/^kid\t.+ · child · \(no title\)$/),
      expect.stringMatching(/^one\t.+ · First$/),
      expect.stringMatching(/^two\t.+ · Second$/),
    ]);
  });

  test('given sessions of the present folder, then here is a name as well, and one whose id it is has id: in front', async () => {
    const temp = tempStore([
      aSession('here').withMetadata({ updatedAt: '2026-07-09T11:00:00Z' }),
      aSession('two').withMetadata({ cwd: '/nowhere/at/all', updatedAt: '2026-07-09T10:00:00Z' }),
    ]);
    const argv = ['__complete', 'fish', '1', 'show', ''];
    const env = { ZERO_SESSIONS_ROOT: temp.root };

    const { out } = await runCommandLine(argv, { env, cwd: '/nowhere/at/all', now: temp.clock.now });

    expect(words(out.trimEnd().split('\n'))).toEqual(['latest', 'here', 'id:here', 'two']);
  });

  test.each([
    ['parent:', ['parent:kid']],
    ['parent:id:', ['parent:id:one', 'parent:id:two', 'parent:id:kid']],
    ['root:t', ['root:two']],
    ['id:', ['id:kid', 'id:one', 'id:two']],
    ['title:F', []],
    ['ON', []],
  ])('given %s, then names of this form', async (typed, expected) => {
    expect([...words(await answer(aStore(), ['show', typed]))].sort()).toEqual([...expected].sort());
  });

  test('given one that cannot be read, then its id comes last', async () => {
    const store = tempStore([aSession('bad').withMetadataText('{'), aSession('good')]);

    expect(await answer(store, ['show', ''])).toEqual([
      expect.stringMatching(/^latest\t/),
      expect.stringMatching(/^good\t/),
      'bad\tcannot be read',
    ]);
  });

  test('given a title that looks like a secret, then it is hidden', async () => {
    const store = tempStore(
      aSession('one').withMetadata({ title: 'key sk-ant-api03-aaaabbbbccccddddeeeeffff00001111' }),
    );

    const lines = await answer(store, ['show', 'o']);

    expect(lines.join()).toContain('[REDACTED]');
    expect(lines.join()).not.toContain('aaaabbbb');
  });

  test.each(HOSTILE_TEXTS)('given the title %j, then it is one line without anything to obey', async (title) => {
    const store = tempStore(aSession('one').withMetadata({ title, tag: title, modelId: title, provider: title }));

    const [line = '', ...more] = await answer(store, ['show', 'o']);

    expect(more).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(line.replace('\t', '')).not.toMatch(/[`$\\\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    for (const flag of ['--tag', '--model', '--provider']) expect(await answer(store, ['list', flag, ''])).toEqual([]);
  });
});

describe('positions', () => {
  test('given the session before or after the cursor, then its events, newest first, as typed so far', async () => {
    const expected = ['12', '11', '10', '1'];

    expect(words(await answer(aStore(), ['rewind', 'one', '--to', '1']))).toEqual(expected);
    expect(words(await answer(aStore(), ['rewind', '--to', '1', 'one'], 2))).toEqual(expected);
    expect(words(await answer(aStore(), ['checkpoint', 'show', 'parent:kid', '1']))).toEqual(expected);
    expect(words(await answer(aStore(), ['fork', 'latest', '--at=1']))).toEqual(expected.map((each) => `--at=${each}`));
    expect(words(await answer(aStore(), ['show', 'one', '--to', 'one:12']))).toEqual(['one:12']);
  });

  test('given what an event says, then it stands beside it', async () => {
    expect(await answer(aStore(), ['show', 'one', '--to', '12'])).toEqual(['12\tmessage · user: event 12']);
  });

  test('given a session without a checkpoint, then last-checkpoint is not offered', async () => {
    const store = tempStore(aSession('one').withEvent({ type: 'session_checkpoint', payload: '{"files":[]}' }));

    expect(words(await answer(store, ['show', 'one', '--to', 'l']))).toEqual(['last-checkpoint']);
    expect(words(await answer(aStore(), ['show', 'one', '--to', 'l']))).toEqual([]);
  });

  test('given a long log, then it is its end, and last-checkpoint', async () => {
    const store = tempStore(aSession('one').withMessages(500));

    const found = words(await answer(store, ['show', 'one', '--to', '']));

    expect(found.slice(0, 3)).toEqual(['last-checkpoint', '500', '499']);
    expect(found).toHaveLength(101);
  });

  test('given damage in the log, then what is good around it', async () => {
    const store = tempStore(aSession('one').withMessages(1).withLine('{nonsense').withMessages(1));

    expect(words(await answer(store, ['show', 'one', '--to', '']))).toEqual(['3', '1']);
  });
});

describe('silence', () => {
  test.each([
    [[]],
    [['tcsh', '0']],
    [['zsh']],
    [['zsh', '-1', 'show']],
    [['zsh', '99999999', 'show']],
    [['zsh', '1', 'show', '']],
    [['zsh', '3', 'show', 'nobody', '--to', '']],
    [['zsh', '3', '--root', '', 'show', '']],
    [['bash']],
  ])('given %j and no store, then nothing is said but words, and it exits 0', async (argv) => {
    const run = await runCommandLine(['__complete', ...argv], { env: { HOME: '/nonexistent' } });

    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out).not.toContain('nobody');
  });

  test('given a torn tail and a store that is read-only, then nothing is written', async () => {
    const store = tempStore(aSession('one').withMessages(2).withTail('{"torn'));
    chmodSync(store.root, 0o500);
    const before = [store.tree(), store.text('events.jsonl'), store.text('metadata.json')];

    expect(words(await answer(store, ['rewind', 'one', '--to', '']))).toEqual(['2', '1']);
    expect(words(await answer(store, ['append', 'o']))).toEqual(['one']);
    expect([store.tree(), store.text('events.jsonl'), store.text('metadata.json')]).toEqual(before);
    chmodSync(store.root, 0o700);
  });

  test('given the help, then the callback is not in it', async () => {
    expect((await runCommandLine(['--help'])).out).not.toContain('__complete');
  });
});

describe('what bash asks', () => {
  const BREAKS = ' \t\n"\'@><=;|&(:';

  test.each<[string, string, CompletionRequest['line'], number]>([
    ['zero-sessions ', '', { before: [], current: '', after: [] }, 0],
    ['zs show id:a', '', { before: ['show'], current: 'id:a', after: [] }, 3],
    ['zs show "id:a', '', { before: ['show'], current: 'id:a', after: [] }, 0],
    ["zs show 'My title' --to=", '', { before: ['show', 'My title'], current: '--to=', after: [] }, 5],
    ['zs rewind --to ', ' one --force', { before: ['rewind', '--to'], current: '', after: ['one', '--force'] }, 0],
    ['zs rew', 'ind one', { before: [], current: 'rew', after: ['one'] }, 0],
    ['zs show a\\ b ', '', { before: ['show', 'a b'], current: '', after: [] }, 0],
    ['zs show "$(touch x)" `y` ', '', { before: ['show', '$(touch x)', '`y`'], current: '', after: [] }, 0],
  ])('given %j before the cursor and %j after, then its words', (before, after, line, kept) => {
    expect(parseRequest(['bash', BREAKS, before, after])).toEqual({ shell: 'bash', line, kept });
  });
});

/** Gives the lines that a shell with descriptions is told; the last word is the one with the cursor, unless `at` says. */
async function answer(store: TempStore, typed: readonly string[], at = typed.length - 1): Promise<readonly string[]> {
  const argv = ['__complete', 'fish', String(at), ...typed];
  const run: CliRun = await runCommandLine(argv, { env: { ZERO_SESSIONS_ROOT: store.root }, now: store.clock.now });
  expect(run).toMatchObject({ code: 0, err: '' });
  return run.out.split('\n').slice(0, -1);
}

function words(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/\t.*/, ''));
}
