import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CompletionStore, completionStore, IDS } from '../support/completion-store.js';

// A real bash with the committed script, and nothing of the bash-completion package. The built program answers.

const TIMEOUT = { timeout: 120_000 };

describe('what bash offers', () => {
  test.each([
    ['zero-sessions sh', ['show']],
    ['zero-sessions checkpoint ', ['capture', 'list', 'show', 'diff', 'restore']],
    ['zero-sessions show ', ['latest', 'alpha', 'alpine', 'beta-1', 'id:latest', 'Zed_2', 'evil']],
    ['zero-sessions show al', ['alpha', 'alpine']],
    ["zero-sessions show 'al", ['alpha', 'alpine']],
    ['zero-sessions --root "$(touch pwned)" show ', []],
    ['zero-sessions show alpha --from ', ['last-checkpoint', ...sequences(24, 1)]],
    ['zero-sessions show "$(touch pwned)" --from ', []],
    ['zero-sessions list --tag ', ['good-tag']],
    ['zero-sessions list --model ', ['maker/model-1:free']],
    ['zero-sessions list --color ', ['auto', 'always', 'never']],
    ['zero-sessions completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['zero-sessions list --cwd ', []],
    ['zero-sessions nonsense ', []],
  ])('52. given %j, then it is what fits, nothing runs, and nobody complains', TIMEOUT, (line, offered) => {
    const store = completionStore();
    const before = store.files();

    expect(replyOf(store, line)).toEqual({ offered, err: '' });
    expect(store.files()).toEqual(before);
  });

  // Bash keeps what stands before the last of its word breaks, and puts in what follows.
  test.each([
    ['zero-sessions show id:al', ['alpha', 'alpine']],
    ['zero-sessions show id:', [...IDS, 'evil']],
    ['zero-sessions show parent:', ['alpine']],
    ['zero-sessions show root:la', ['latest']],
    ['zero-sessions list --sort=', ['updated', 'created', 'events', 'title']],
    ['zero-sessions list --model=maker/model-1:', ['free']],
  ])('given %j, where it has parted the word, then it is the rest of each', TIMEOUT, (line, offered) => {
    expect(replyOf(completionStore(), line)).toEqual({ offered, err: '' });
  });

  test('given word breaks without the colon, then it is each whole', TIMEOUT, () => {
    const reply = replyOf(completionStore(), 'zero-sessions show id:al', `COMP_WORDBREAKS=\${COMP_WORDBREAKS//:}`);

    expect(reply.offered).toEqual(['id:alpha', 'id:alpine']);
  });
});

describe('the store of these tests', () => {
  test('given a function that expands the names of folders, then they do run: the trap works', () => {
    const store = completionStore();
    const folders = store.files().filter((name) => !name.includes('/'));

    // biome-ignore format: a line is an argument
    spawnSync('bash', ['-c', 'compgen -W "$1" -- x', 'bash', folders.join('\n').replace(/["']/g, '')], { cwd: store.cwd, env: store.env });

    expect(store.files()).toContain('pwned');
  });
});

describe('what readline makes of it', () => {
  test.each([
    ['sho\talph\t', ['show', 'alpha']],
    ['show id:alph\t', ['show', 'id:alpha']],
    ['show "id:alph\t', ['show', 'id:alpha']],
    ['show root:alph\t--ful\t', ['show', 'root:alpha', '--full']],
    ['list --sort=upd\t--rev\t', ['list', '--sort=updated', '--reverse']],
    ['show alpha --from last\t', ['show', 'alpha', '--from', 'last-checkpoint']],
    ['show two\t', ['show', 'two']],
    ['show with\t', ['show', 'with']],
  ])('52. given %j typed, then the line is completed', TIMEOUT, (typed, words) => {
    const store = completionStore();
    const before = store.files();

    expect(lineTyped(store, typed)).toEqual(words);
    expect(store.files()).toEqual(before);
  });
});

function sequences(from: number, to: number): readonly string[] {
  return Array.from({ length: from - to + 1 }, (_, at) => String(from - at));
}

/** Calls the function as bash does when TAB comes at the end of the line. */
function replyOf(store: CompletionStore, line: string, setUp = ''): { offered: readonly string[]; err: string } {
  const script = `
    ${setUp}
    source "$1/zero-sessions.bash"
    COMP_LINE=$2 COMP_POINT=\${#2}
    # Without readline there is no compspec at work whose options could be changed.
    compopt() { :; }
    _zero_sessions zero-sessions x y
    for each in "\${COMPREPLY[@]}"; do printf '%s\\0' "$each"; done`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', script, 'bash', store.scripts, line], {
    cwd: store.cwd,
    env: store.env,
    encoding: 'utf8',
  });
  return { offered: stdout.split('\0').slice(0, -1), err: stderr };
}

/** Types a line into an interactive bash, TABs and all; gives the words that the program would be called with. */
function lineTyped(store: CompletionStore, typed: string): readonly string[] {
  const rcFile = join(store.bin, 'bashrc');
  writeFileSync(rcFile, `source '${store.scripts}/zero-sessions.bash'\nzero-sessions() { printf '%s\\0' "$@"; }\n`);
  const { stdout } = spawnSync('bash', ['--noprofile', '--rcfile', rcFile, '-i'], {
    cwd: store.cwd,
    env: { ...store.env, HISTFILE: '/dev/null' },
    input: `zero-sessions ${typed}\nexit\n`,
    encoding: 'utf8',
  });
  return stdout.split('\0').slice(0, -1);
}
