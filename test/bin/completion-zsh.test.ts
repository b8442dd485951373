import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CompletionStore, completionStore, HOSTILE_TEXTS } from '../support/completion-store.js';

// A real zsh, its own completion system and the committed script, on a terminal. The built program answers.

const DRIVER = fileURLToPath(new URL('../support/complete-in-zsh.zsh', import.meta.url));
const TIMEOUT = { timeout: 120_000 };

describe('what zsh offers', () => {
  test.each([
    ['sh', ['show']],
    ['show ', ['latest', 'alpha', 'alpine', 'beta-1', 'id:latest', 'Zed_2', 'evil']],
    ["show 'al", ['alpha', 'alpine']],
    ['show id:', ['id:alpha', 'id:alpine', 'id:beta-1', 'id:latest', 'id:Zed_2', 'id:evil']],
    ['list --sort=', ['--sort=updated', '--sort=created', '--sort=events', '--sort=title']],
    ['list --tag ', ['good-tag']],
    ['list --model ', ['maker/model-1:free']],
    ['show "$(touch pwned)" --from ', []],
    ['--root "$(touch pwned)" show ', []],
  ])('52. given %j, then it is what fits, and nothing runs', TIMEOUT, (typed, words) => {
    const store = completionStore();
    const before = store.files();

    const { offered } = typeInto(store, `${typed}\t`);

    expect(offered.map(({ word }) => word)).toEqual(words);
    expect(store.files()).toEqual(before);
  });

  test('given a session, then age, kind and title stand beside it, as text', TIMEOUT, () => {
    const { offered } = typeInto(completionStore(), 'show al\t');

    expect(offered.map(({ shown }) => shown)).toEqual([
      expect.stringMatching(/^alpha +-- .+ · Fix the parser: part 2$/),
      expect.stringMatching(/^alpine +-- .+ · fork · touch pwned$/),
    ]);
  });

  test('given positions, then what each event says stands beside it, as text', TIMEOUT, () => {
    const store = completionStore();
    const before = store.files();

    const { offered } = typeInto(store, 'show alpha --from \t');

    expect(offered).toHaveLength(2 + HOSTILE_TEXTS.length);
    expect(offered.map(({ shown }) => shown)).toContainEqual(
      expect.stringMatching(/^9 .*message · user: && touch pwned$/),
    );
    expect(store.files()).toEqual(before);
  });
});

describe('what zsh makes of it', () => {
  test.each([
    ['sho\talph\t', ['show', 'alpha']],
    ['show id:alph\t', ['show', 'id:alpha']],
    ['show "id:alph\t', ['show', 'id:alpha']],
    ['list --sort=upd\t--rev\t', ['list', '--sort=updated', '--reverse']],
    ['show alpha --from last\t', ['show', 'alpha', '--from', 'last-checkpoint']],
    ['show two\t', ['show', 'two']],
    ['list --cwd su\t', ['list', '--cwd', 'sub folder']],
    ['list --cwd=su\t', ['list', '--cwd=sub folder']],
  ])('52. given %j typed, then the line is completed', TIMEOUT, (typed, words) => {
    const store = completionStore();
    mkdirSync(join(store.cwd, 'sub folder'));
    const before = store.files();

    expect(typeInto(store, `${typed}\n`).line?.map((word) => word.replace(/\/$/, ''))).toEqual(words);
    expect(store.files()).toEqual(before);
  });
});

interface Typed {
  readonly offered: readonly { readonly word: string; readonly shown: string }[];
  /** The words that the program would have been called with; undefined when the line was not entered. */
  readonly line: readonly string[] | undefined;
}

function typeInto(store: CompletionStore, typed: string): Typed {
  const capture = join(store.bin, 'capture');
  const { status, stderr } = spawnSync('zsh', ['-f', DRIVER, store.scripts, capture, typed], {
    cwd: store.cwd,
    env: store.env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect([status, stderr]).toEqual([0, '']);
  const fields = existsSync(capture) ? readFileSync(capture, 'utf8').split('\0').slice(0, -1) : [];
  const offered: { word: string; shown: string }[] = [];
  while (fields[0] === 'offered') {
    const [, word = '', shown = ''] = fields.splice(0, 3);
    offered.push({ word, shown });
  }
  return { offered, line: fields[0] === 'line' ? fields.slice(1) : undefined };
}
