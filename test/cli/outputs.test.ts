import { describe, expect, test } from 'vitest';
import { documentOf } from '../support/json-document.js';
import { type CliRun, runCommandLine } from '../support/run-cli.js';
import type { TempWorkspace } from '../support/temp-workspace.js';
import { workedSession } from '../support/worked-session.js';

// The table under "JSON" in CLI.md: for each row what --json, --jsonl and -q print, through the arguments.

interface Row {
  /** Full name of the command. */
  readonly command: string;
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** Command lines that come first. */
  readonly before?: readonly (readonly string[])[];
  /** Keys beside `schemaVersion`, in order. */
  readonly keys: readonly string[];
  /** How many lines --jsonl prints; undefined where it is a usage error. */
  readonly jsonl?: number;
  /** What -q prints. */
  readonly quiet: string | RegExp;
}

const ULID_LINE = /^[0-9A-HJKMNP-TV-Z]{26}\n$/;
const EVENT = '{"type":"message","payload":{"role":"user","content":"x"}}\n';
const REWOUND = [['rewind', 's', '--to', '1']];

const ROWS: readonly (readonly [title: string, row: Row])[] = [
  row('list', ['--all'], { keys: ['sessions', 'hidden', 'unreadable'], jsonl: 2, quiet: 'child\ns\n' }),
  row('tree', ['s'], { keys: ['path', 'trees'], quiet: 's\nchild\n' }),
  row('show', ['s', '--to', '2'], {
    keys: ['session', 'summary', 'events', 'damage'],
    jsonl: 2,
    quiet: '1\n2\n',
  }),
  row('fork', ['s'], { keys: ['session'], quiet: ULID_LINE }),
  row('create', ['--id', 'made'], { keys: ['session'], quiet: 'made\n' }),
  row('rename', ['s', 'Other'], { keys: ['session'], quiet: 's\n' }),
  row('rewind', ['s', '--to', '1', '--dry-run'], { keys: ['plan'], quiet: 'a.txt\nnew.txt\n' }),
  row('rewind', ['s', '--to', '1'], { keys: ['plan', 'report'], quiet: ULID_LINE }),
  row('rewind', ['s', '--undo', '--dry-run'], { before: REWOUND, keys: ['plan'], quiet: 'a.txt\nnew.txt\n' }),
  row('rewind', ['s', '--undo'], { before: REWOUND, keys: ['plan', 'report'], quiet: ULID_LINE }),
  row('rewind', ['s', '--history'], { before: REWOUND, keys: ['rewinds'], jsonl: 1, quiet: ULID_LINE }),
  row('rewind', ['s', '--history'], { keys: ['rewinds'], jsonl: 0, quiet: '' }),
  row('compact', ['s', '--preserve-last', '5'], {
    keys: ['plan', 'prompt', 'part', 'parts'],
    quiet: /^Summarize [\s\S]*\n\[1\] message user: please\n$/,
  }),
  row('compact', ['s', '--preserve-last', '3', '--summary', 'All of it'], { keys: ['plan', 'event'], quiet: '9\n' }),
  row('compact', ['s', '--undo'], {
    before: [['compact', 's', '--preserve-last', '3', '--summary', 'x']],
    keys: ['report'],
    quiet: ULID_LINE,
  }),
  row('checkpoint capture', ['s', 'a.txt'], { keys: ['event'], quiet: '9\n' }),
  row('checkpoint capture', ['s', '.'], { keys: ['event'], quiet: '' }),
  row('checkpoint list', ['s'], { keys: ['checkpoints'], jsonl: 1, quiet: '3\n' }),
  row('checkpoint show', ['s', '1'], { keys: ['checkpoint', 'files'], jsonl: 2, quiet: 'a.txt\nnew.txt\n' }),
  row('checkpoint diff', ['s', '1'], { keys: ['files'], jsonl: 2, quiet: 'a.txt\nnew.txt\n' }),
  row('checkpoint diff', ['s', '4'], { keys: ['files'], jsonl: 0, quiet: '' }),
  row('checkpoint restore', ['s', '--to', '1', '--dry-run'], { keys: ['plan'], quiet: 'a.txt\nnew.txt\n' }),
  row('checkpoint restore', ['s', '--to', '1', 'a.txt'], { keys: ['plan', 'report'], quiet: ULID_LINE }),
  row('resume', ['s'], { keys: ['session', 'contextEvents', 'command', 'prompt'], quiet: 's\n' }),
  row('resume', ['s', '--prompt', 'go on'], {
    keys: ['session', 'contextEvents', 'command', 'prompt'],
    quiet: /^Continuing session s\.[\s\S]*\nRequest:\ngo on\n$/,
  }),
  row('append', ['s'], { stdin: EVENT + EVENT, keys: ['events', 'appended'], jsonl: 2, quiet: '9\n10\n' }),
  row('append', ['s', '--unless-exists', 'message'], {
    stdin: EVENT,
    keys: ['events', 'appended'],
    jsonl: 0,
    quiet: '',
  }),
  row('children', ['s'], { keys: ['sessions', 'unreadable'], jsonl: 1, quiet: 'child\n' }),
  row('lineage', ['child'], { keys: ['sessions', 'unreadable'], jsonl: 2, quiet: 's\nchild\n' }),
  row('spec record', ['s', '--spec-id', 'x', '--spec-status', 'draft'], { keys: ['session', 'event'], quiet: 's\n' }),
  row('spec implement', ['s', '--spec-id', 'x', '--prompt', 'do it'], { keys: ['session', 'event'], quiet: ULID_LINE }),
  row('spec show', ['s'], { keys: ['session', 'event'], quiet: 's\n' }),
  row('path', ['s'], { keys: ['path'], quiet: /\/sessions\/s\n$/ }),
  row('info', [], {
    keys: [
      ...['version', 'node', 'platform', 'arch', 'release', 'root', 'rootExists', 'lock', 'checkpoints', 'sessions'],
      'unreadable',
      'keptBytes',
      'notablyKept',
      'leftOvers',
    ],
    quiet: /^zero-sessions {2}\d/,
  }),
];

describe('what a command prints', () => {
  test.each(ROWS)('given %s, then each form of it is as the table says', async (_title, each) => {
    const run = await runsOf(each);

    const json = await run('--json');
    expect(json.code).toBe(0);
    expect(Object.keys(await documentOf(each.command, json.out))).toEqual(['schemaVersion', ...each.keys]);

    const jsonl = await run('--jsonl');
    if (each.jsonl === undefined) {
      expect([jsonl.code, JSON.parse(jsonl.out).error.code]).toEqual([2, 'USAGE']);
    } else {
      expect(jsonl.code).toBe(0);
      expect(jsonl.out.split('\n').slice(0, -1).map(typeOfLine)).toEqual(Array(each.jsonl).fill('object'));
    }

    const quiet = await run('-q');
    expect([quiet.code, quiet.err]).toEqual([0, '']);
    if (typeof each.quiet === 'string') expect(quiet.out).toBe(each.quiet);
    else expect(quiet.out).toMatch(each.quiet);

    const text = await run();
    expect(text.code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(text.out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/);
  });
});

function row(command: string, argv: readonly string[], rest: Omit<Row, 'command' | 'argv'>): readonly [string, Row] {
  const first = rest.before === undefined ? '' : `, after ${rest.before.join(' ').replaceAll(',', ' ')}`;
  return [`${command} ${argv.join(' ')}${first}`, { command, argv, ...rest }];
}

/** Gives what runs a row, each time on the same session as it was; those that change nothing share one. */
async function runsOf(each: Row): Promise<(...flags: readonly string[]) => Promise<CliRun>> {
  const isWritten =
    Object.keys(each).includes('stdin') || each.keys.some((key) => ['session', 'report', 'event'].includes(key));
  const shared = isWritten ? undefined : await prepared(each);
  return async (...flags) => {
    const temp = shared ?? (await prepared(each));
    return runCommandLine([...each.command.split(' '), ...each.argv, ...flags], surroundingsOf(temp, each));
  };
}

async function prepared(each: Row): Promise<TempWorkspace> {
  const temp = await workedSession();
  for (const line of each.before ?? []) {
    expect((await runCommandLine(line, surroundingsOf(temp, each))).code).toBe(0);
  }
  return temp;
}

function surroundingsOf(temp: TempWorkspace, { stdin = '' }: Row) {
  return { root: temp.root, cwd: temp.workspace, now: temp.clock.now, stdin };
}

function typeOfLine(line: string): string {
  const value: unknown = JSON.parse(line);
  return Array.isArray(value) ? 'array' : typeof value;
}
