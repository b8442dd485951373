import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CompletionStore, completionStore, HOSTILE_TEXTS } from '../support/completion-store.js';

// A real fish with the committed script. The built program answers.

const TIMEOUT = { timeout: 120_000 };

describe('what fish offers', () => {
  test.each([
    ['sh', ['show']],
    ['checkpoint ', ['capture', 'list', 'show', 'diff', 'restore']],
    ['show ', ['latest', 'alpha', 'alpine', 'beta-1', 'id:latest', 'Zed_2', 'evil']],
    ["show 'al", ['alpha', 'alpine']],
    ['show id:', ['id:alpha', 'id:alpine', 'id:beta-1', 'id:latest', 'id:Zed_2', 'id:evil']],
    ['show parent:', ['parent:alpine']],
    ['list --sort=', ['--sort=updated', '--sort=created', '--sort=events', '--sort=title']],
    ['list --tag ', ['good-tag']],
    ['list --model ', ['maker/model-1:free']],
    ['show "$(touch pwned)" --from ', []],
    ['show (touch pwned) --from ', []],
    ['--root "$(touch pwned)" show ', []],
    ['list --cwd su', ['sub folder/']],
    ['list --cwd=su', ['--cwd=sub folder/']],
  ])('52. given %j, then it is what fits, and nothing runs', TIMEOUT, (typed, words) => {
    const store = completionStore();
    mkdirSync(join(store.cwd, 'sub folder'));
    const before = store.files();

    expect(offered(store, typed).map(({ word }) => word)).toEqual(words);
    expect(store.files()).toEqual(before);
  });

  test('given a session, then age, kind and title stand beside it, as text', TIMEOUT, () => {
    expect(offered(completionStore(), 'show al')).toEqual([
      { word: 'alpha', shown: expect.stringMatching(/^.+ · Fix the parser: part 2$/) },
      { word: 'alpine', shown: expect.stringMatching(/^.+ · fork · touch pwned$/) },
    ]);
  });

  test('given positions, then what each event says stands beside it, as text', TIMEOUT, () => {
    const store = completionStore();
    const before = store.files();

    const positions = offered(store, 'show alpha --from ');

    expect(positions).toHaveLength(2 + HOSTILE_TEXTS.length);
    expect(positions).toContainEqual({ word: '9', shown: 'message · user: && touch pwned' });
    expect(store.files()).toEqual(before);
  });
});

/** Asks fish what it would show when TAB comes at the end of the line. */
function offered(store: CompletionStore, typed: string): readonly { word: string; shown: string }[] {
  const script = 'source $argv[1]/zero-sessions.fish; complete -C "zero-sessions $argv[2]"';
  const { status, stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script, store.scripts, typed], {
    cwd: store.cwd,
    env: store.env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => ({ word: line.replace(/\t.*/, ''), shown: line.replace(/^[^\t]*\t?/, '') }));
}
