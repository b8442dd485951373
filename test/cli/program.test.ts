import { describe, expect, test } from 'vitest';
import { GLOBAL_OPTIONS } from '../../src/cli/input/global-options.js';
import { COMMANDS, FLAGS_WITH_VALUE, LATER_COMMANDS } from '../../src/cli/registry.js';
import { errorOf } from '../support/json-document.js';
import { runCommandLine } from '../support/run-cli.js';
import { aSession } from '../support/session-builder.js';
import { tempStore } from '../support/temp-store.js';

describe('a command line', () => {
  test('given no command, then it is list', async () => {
    const { root } = tempStore(aSession('one').withMessages(1));

    const bare = await runCommandLine([], { root });
    const named = await runCommandLine(['list'], { root });

    expect(bare).toEqual(named);
    expect(bare.out).toContain('one');
  });

  test('given flags of a command without the command, then it is list with them', async () => {
    const { root } = tempStore([aSession('one'), aSession('two')]);

    const run = await runCommandLine(['--limit', '1', '-q'], { root });

    expect(run.out).toBe('two\n');
  });

  test.each([
    [['show', 'one', '-q', '--from', '2']],
    [['-q', '--from', '2', 'show', 'one']],
    [['--from=2', 'show', '-q', 'one']],
    [['show', '--from', '2', 'one', '--quiet']],
  ])('given flags wherever they stand (%j), then they mean the same', async (argv) => {
    const { root } = tempStore(aSession('one').withMessages(3));

    const run = await runCommandLine(argv, { root });

    expect(run).toMatchObject({ code: 0, out: '2\n3\n', err: '' });
  });

  test('given a flag whose value is the name of a command, then that is no command', async () => {
    const { root } = tempStore(aSession('one').withMetadata({ tag: 'tree' }));

    const run = await runCommandLine(['--tag', 'tree', 'list', '-q'], { root });

    expect(run).toMatchObject({ code: 0, out: 'one\n' });
  });

  test('given a negative number as the value of a flag, then it is the value', async () => {
    const { root } = tempStore(aSession('one').withMessages(5));

    const run = await runCommandLine(['show', 'one', '--to', '-2', '-q'], { root });

    expect(run).toMatchObject({ code: 0, out: '1\n2\n3\n' });
  });

  test('given a bare negative number where a command is looked for, then it is an unknown command', async () => {
    const run = await runCommandLine(['-2']);

    expect(run).toMatchObject({ code: 2, out: '' });
    expect(run.err).toContain("Unknown command '-2'");
  });

  test.each([
    [['lst'], "Unknown command 'lst'", 'Did you mean one of list, ls?'],
    [['--jsno'], "Unknown option '--jsno'", 'Did you mean --json?'],
    [['list', '--lim', '3'], "Unknown option '--lim'", 'Did you mean --limit?'],
    [['sho', 'one'], "Unknown command 'sho'", 'Did you mean show?'],
    [['show'], "Missing required argument 'session'", 'See: zero-sessions show --help'],
    [['list', 'one'], 'Too many arguments. Expected 0 arguments but got 1.', 'See: zero-sessions list --help'],
    [['list', '--limit'], "Option '--limit <n>' argument missing", 'See: zero-sessions list --help'],
    [['--json', '--jsonl'], '--jsonl does not go with --json', 'See: zero-sessions list --help'],
    [['--jsonl', '-q'], '--jsonl does not go with --quiet', 'See: zero-sessions list --help'],
    [['tree', '--jsonl'], 'tree gives no list: it has no --jsonl', 'See: zero-sessions tree --help'],
    [['demo', '--json'], 'demo has no --json', 'See: zero-sessions demo --help'],
  ])('given what cannot be understood (%j), then it exits 2 and says what to do', async (argv, message, hint) => {
    const run = await runCommandLine(argv);

    expect(run.code).toBe(2);
    expect(run.err).toBe(`zero-sessions: ${message}\n  ${hint}\n`);
  });

  test('given an abbreviation, then nothing is guessed', async () => {
    const run = await runCommandLine(['tr']);

    expect(run.code).toBe(2);
  });

  test.each(LATER_COMMANDS)('given %s, which comes later, then it exits 2 and says so', async (name) => {
    const run = await runCommandLine([name, 'x']);

    expect(run).toMatchObject({ code: 2, out: '' });
    expect(run.err).toContain('not available yet');
  });

  test('given --version, then it prints the bare number', async () => {
    const long = await runCommandLine(['--version']);
    const short = await runCommandLine(['show', '-V']);

    expect(long).toMatchObject({ code: 0, err: '' });
    expect(long.out).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(short.out).toBe(long.out);
  });
});

describe('help', () => {
  test('given the program, then it opens with an imperative line and names every command', async () => {
    const { code, out, err } = await runCommandLine(['--help']);

    expect([code, err]).toEqual([0, '']);
    expect(out.split('\n')[0]).toBe('Look at, fork, rewind and resume the sessions of the Zero coding agent');
    for (const { name } of COMMANDS) expect(out).toMatch(new RegExp(`^ {2}${name.split(' ')[0]}\\b`, 'm'));
  });

  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    'given %s, then it opens with its summary, has an example of itself, and names every flag',
    async (name, { summary, load }) => {
      const command = await load();

      const { code, out, err } = await runCommandLine([...name.split(' '), '--help']);

      expect([code, err]).toEqual([0, '']);
      expect(out.split('\n')[0]).toBe(summary);
      expect(summary).toMatch(/^[A-Z][a-z]+ .*[^.]$/);
      expect(out).toContain(`Examples:\n  `);
      expect(command.examples.every((example) => example.includes(`zero-sessions ${name}`))).toBe(true);
      for (const { flags } of [...command.options, ...GLOBAL_OPTIONS]) expect(out).toContain(`  ${flags}`);
    },
  );

  test('given help before the command, then it is the help of the command', async () => {
    const before = await runCommandLine(['-h', 'show']);
    const after = await runCommandLine(['show', '-h']);

    expect(before.out).toBe(after.out);
  });
});

describe('the registry', () => {
  test('given every command, then the flags that take a value are the ones it lists', async () => {
    const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
    const options = [...commands.flatMap((command) => command.options), ...GLOBAL_OPTIONS];
    const withValue = options
      .filter(({ flags }) => flags.endsWith('>'))
      .map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0]);

    expect(new Set(withValue)).toEqual(FLAGS_WITH_VALUE);
  });

  test('given two commands with the same flag, then it takes a value in both or in neither', async () => {
    const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
    const without = commands
      .flatMap((command) => command.options)
      .filter(({ flags }) => !flags.includes('<'))
      .map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0] ?? '');

    expect(without.filter((flag) => FLAGS_WITH_VALUE.has(flag))).toEqual([]);
  });

  test('given aliases, then there are only ls, log and rm', () => {
    const aliases = COMMANDS.flatMap((entry) => entry.aliases);

    expect(aliases.filter((alias) => !['ls', 'log', 'rm'].includes(alias))).toEqual([]);
  });
});

describe('an error', () => {
  test('given --json, then stdout has it as a document and stderr as text', async () => {
    const run = await runCommandLine(['list', '--limit', 'x', '--json'], { root: '/nowhere' });

    expect(run.code).toBe(2);
    expect(errorOf(run.out)).toEqual({
      code: 'INVALID_ARGUMENT',
      message: '--limit: "x" is no such number',
      hint: 'Give a whole number, 0 or more.',
      argument: '--limit',
    });
    expect(run.err).toBe('zero-sessions: --limit: "x" is no such number\n  Give a whole number, 0 or more.\n');
  });

  test('given --jsonl, then it is one line', async () => {
    const run = await runCommandLine(['list', '--limit', 'x', '--jsonl']);

    expect(run.out.split('\n')).toHaveLength(2);
    expect(errorOf(run.out).code).toBe('INVALID_ARGUMENT');
  });

  test('given a command line that cannot be parsed, then --json is honoured all the same', async () => {
    const run = await runCommandLine(['--json', '--nonsense']);

    expect(errorOf(run.out)).toMatchObject({ code: 'USAGE', message: "Unknown option '--nonsense'" });
  });

  test('given text that a terminal would obey or that is a secret, then neither reaches the terminal', async () => {
    const { root } = tempStore();

    const run = await runCommandLine(['show', 'a\u001b[31mb password=hunter2secret'], { root });

    expect(run.code).toBe(3);
    expect(run.err).not.toContain('\u001b');
    expect(run.err).not.toContain('hunter2secret');
  });

  test('given --color always, then only the mark of the program is coloured', async () => {
    const run = await runCommandLine(['--nonsense', '--color', 'always']);

    expect(run.err.split(' Unknown option ')).toEqual([
      '\u001b[1m\u001b[31mzero-sessions:\u001b[39m\u001b[22m',
      "'--nonsense'\n  See: zero-sessions list --help\n",
    ]);
  });
});

describe('the store', () => {
  test('given --root and the environment, then --root wins', async () => {
    const { root } = tempStore(aSession('one'));

    const run = await runCommandLine(['-q'], { root, env: { ZERO_SESSIONS_ROOT: '/nowhere' } });

    expect(run.out).toBe('one\n');
  });

  test('given ZERO_SESSIONS_ROOT, then that is the store', async () => {
    const { root } = tempStore(aSession('one'));

    const run = await runCommandLine(['-q'], { env: { ZERO_SESSIONS_ROOT: root } });

    expect(run.out).toBe('one\n');
  });

  test('given neither, nor a home, then it says what is missing', async () => {
    const run = await runCommandLine(['list']);

    expect(run).toMatchObject({ code: 2, out: '' });
    expect(run.err).toContain('There is no store');
  });

  test('given a blank --root, then it is refused', async () => {
    const run = await runCommandLine(['list', '--root', ' ']);

    expect(run.code).toBe(2);
    expect(run.err).toContain('--root is blank');
  });
});

describe('--no-redact', () => {
  test('given a secret in a title, then it is hidden unless asked for, and that is said', async () => {
    const { root } = tempStore(aSession('one').withMetadata({ title: 'api_key=abcd1234efgh5678' }));

    const hidden = await runCommandLine(['list'], { root });
    const shown = await runCommandLine(['list', '--no-redact'], { root });

    expect(hidden.out).toContain('api_key=[REDACTED]');
    expect(hidden.err).toMatch(/^warning: What looks like a secret was replaced by \[REDACTED\]/);
    expect(shown.out).toContain('api_key=abcd1234efgh5678');
    expect(shown.err).toBe('What looks like a secret is shown as it is (--no-redact).\n');
  });
});

describe('Ctrl-C', () => {
  test('given a read that is under way, then it exits 130 without a word', async () => {
    const { root } = tempStore(aSession('one').withMessages(2));
    const interrupt = new AbortController();
    interrupt.abort();

    const run = await runCommandLine(['show', 'one'], { root, signal: interrupt.signal });

    expect(run).toMatchObject({ code: 130, err: '' });
  });
});
