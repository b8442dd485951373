import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { InterruptedError } from '../../../src/cli/errors.js';
import { COMMANDS } from '../../../src/cli/registry.js';
import { SystemError } from '../../../src/errors.js';
import { errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { laySession, tempStore } from '../../support/temp-store.js';
import { contents, type TempWorkspace } from '../../support/temp-workspace.js';
import { workedSession } from '../../support/worked-session.js';

// Every exit code that a command can give, by a command line that gives it (CLI.md, "Exit codes"). 0 is in outputs.test.ts.

const EVENT = '{"type":"message"}\n';

/** A command line of each command that takes a session, with the name of one that is not there. */
const OF_NOBODY: readonly string[] = [
  'tree nobody',
  'show nobody',
  'children nobody',
  'lineage nobody',
  'path nobody',
  'create --parent nobody',
  'append nobody',
  'rename nobody x',
  'rewind nobody --to 1',
  'compact nobody',
  'checkpoint capture nobody a.txt',
  'checkpoint list nobody',
  'checkpoint show nobody 1',
  'checkpoint diff nobody 1',
  'checkpoint restore nobody --to 1',
  'spec record nobody --spec-status draft',
  'spec implement nobody --prompt x',
  'spec show nobody',
  'fork nobody',
  'resume nobody',
];

describe('exit code 1: failed', () => {
  test.each([...OF_NOBODY.map((line) => line.replaceAll('nobody', 's')), 'list', 'create', 'info', 'schema list'])(
    'given %s and a stdout that cannot be written, then the reason is on stderr',
    async (line) => {
      const { root } = tempStore(aSession().withMessages(9).withMetadata({ cwd: tmpdir(), specId: 'x' }));
      const outFailure = new SystemError('Cannot write to standard output: ENOSPC', 'ENOSPC', undefined);

      const run = await runCommandLine(line.split(' '), { root, outFailure, stdin: EVENT });

      expect([run.code, run.err]).toEqual([1, expect.stringContaining('ENOSPC')]);
    },
  );

  test('given a store that cannot be made, then the system says why', async () => {
    const { path } = tempStore(aSession());

    const run = await runCommandLine(['create', '--json'], { root: join(path('metadata.json'), 'store') });

    expect([run.code, errorOf(run.out).code]).toEqual([1, 'SYSTEM']);
  });

  test.each(['exit 3', 'true'])('given the summarizer %j, then nothing is recorded', async (summarizer) => {
    const { root, text } = tempStore(aSession().withMessages(9));
    const before = text('events.jsonl');

    const run = await runCommandLine(['compact', 's', '--summarizer', summarizer, '--json'], { root });

    expect([run.code, errorOf(run.out).code, text('events.jsonl')]).toEqual([1, 'SYSTEM', before]);
  });
});

describe('exit code 2: wrong usage', () => {
  test.each(COMMANDS.map(({ name }) => name))(
    'given %s with a flag that nobody knows, then it is refused',
    async (name) => {
      const { root } = tempStore();

      const run = await runCommandLine([...name.split(' '), '--nope', '--json'], { root });

      expect([run.code, errorOf(run.out).code]).toEqual([2, 'USAGE']);
    },
  );

  test.each([
    ['show', 'USAGE'],
    ['fork', 'USAGE'],
    ['rename s', 'USAGE'],
    ['rewind s', 'USAGE'],
    ['rewind s --to 1 --undo', 'USAGE'],
    ['rewind s --history --force', 'USAGE'],
    ['rewind s --to 1 --events-only --files-only', 'USAGE'],
    ['rewind s --to 0 --exclude-target', 'USAGE'],
    ['rewind s --to 1 --expect-head x', 'INVALID_ARGUMENT'],
    ['compact s --summary a --summarizer b', 'USAGE'],
    ['compact s --preserve-last 0', 'INVALID_ARGUMENT'],
    ['compact s --undo --summary x', 'USAGE'],
    ['compact s --undo --preserve-last 2', 'USAGE'],
    ['compact s --summary x --preserve-last 100', 'USAGE'],
    ['show s --follow', 'NOT_YET'],
    ['create --depth -1', 'INVALID_ARGUMENT'],
    ['create --id a/b', 'INVALID_ID'],
    ['create --prompt x', 'USAGE'],
    ['create --parent s --spec-id x', 'USAGE'],
    ['checkpoint', 'USAGE'],
    ['checkpoint restore s', 'USAGE'],
    ['checkpoint capture s', 'USAGE'],
    ['spec', 'USAGE'],
    ['spec record s', 'USAGE'],
    ['spec record s --spec-status done', 'USAGE'],
    ['spec implement s', 'USAGE'],
    ['spec implement s --prompt x', 'USAGE'],
    ['resume s --exec ./x', 'USAGE'],
    ['resume s --exec zero.cmd', 'USAGE'],
    ['resume side', 'NOT_RESUMABLE'],
    ['append s --unless-exists :/x=1', 'INVALID_ARGUMENT'],
    ['path s --jsonl', 'USAGE'],
    ['path ss', 'AMBIGUOUS_NAME'],
    ...[
      'verify',
      'repair s',
      'gc',
      'search x',
      'usage',
      'tag s',
      'prune',
      'delete s',
      'rm s',
      'archive s',
      'export s',
    ].map((line) => [line, 'NOT_YET'] as const),
  ] as const)('given %s, then it is %s', async (line, code) => {
    const { root } = tempStore([
      aSession().withMessages(9).withMetadata({ cwd: tmpdir() }),
      aSession('side').withMetadata({ sessionKind: 'side' }),
      aSession('ss1'),
      aSession('ss2'),
    ]);

    const run = await runCommandLine([...line.split(' '), '--json'], { root, stdin: '{"type":1}\n' });

    expect([run.code, errorOf(run.out).code]).toEqual([2, code]);
  });

  test.each(['x', '[1]', '{}', '{"type":1}', '{"type":" "}', '{"type":"a","paylaod":1}'])(
    'given append and the line %s, then nothing is appended and the line is named',
    async (line) => {
      const { root, text } = tempStore(aSession().withMessages(1));
      const before = text('events.jsonl');

      const run = await runCommandLine(['append', 's'], { root, stdin: `${EVENT}\n${line}\n` });

      expect([run.code, run.out, text('events.jsonl')]).toEqual([2, '', before]);
      expect(run.err).toContain('Line 3 of stdin');
    },
  );

  test('given a terminal and no session, then the picker is not there yet', async () => {
    const { root } = tempStore(aSession());

    const run = await runCommandLine(['resume'], { root, columns: 80 });

    expect([run.code, run.err]).toEqual([2, expect.stringContaining('not available yet')]);
  });
});

describe('exit code 3: no such thing', () => {
  test.each(OF_NOBODY)('given %s, then nobody has that name', async (line) => {
    const { root } = tempStore(aSession());

    const run = await runCommandLine([...line.split(' '), '--json'], { root, stdin: EVENT });

    expect([run.code, errorOf(run.out).code]).toEqual([3, 'SESSION_NOT_FOUND']);
  });

  test.each([
    ['show s --from 99', 'EVENT_NOT_FOUND'],
    ['fork s --at 99', 'EVENT_NOT_FOUND'],
    ['rewind s --to 99', 'EVENT_NOT_FOUND'],
    ['rewind s --undo', 'REWIND_NOT_FOUND'],
    ['rewind s --undo 01ARZ3NDEKTSV4RRFFQ69G5FAV', 'REWIND_NOT_FOUND'],
    ['rewind s --undo --dry-run', 'REWIND_NOT_FOUND'],
    ['rewind s --abort', 'REWIND_NOT_FOUND'],
    ['rewind s --continue', 'REWIND_NOT_FOUND'],
    ['compact s --preserve-last 1 --summary-file nope', 'FILE_NOT_FOUND'],
    ['compact s --undo', 'REWIND_NOT_FOUND'],
    ['checkpoint show s 99', 'EVENT_NOT_FOUND'],
    ['checkpoint show s 1 nope', 'FILE_NOT_FOUND'],
    ['checkpoint show s 1 new.txt', 'FILE_NOT_FOUND'],
    ['checkpoint diff s 99', 'EVENT_NOT_FOUND'],
    ['checkpoint diff s 1 nope', 'FILE_NOT_FOUND'],
    ['checkpoint diff child', 'EVENT_NOT_FOUND'],
    ['checkpoint restore s --to 99', 'EVENT_NOT_FOUND'],
    ['checkpoint restore s --to 1 nope', 'FILE_NOT_FOUND'],
  ])('given %s, then it is %s', async (line, code) => {
    const temp = await workedSession();

    const run = await inWorkspace(temp, `${line} --json`);

    expect([run.code, errorOf(run.out).code]).toEqual([3, code]);
  });

  test('given resume --exec and no such program on PATH, then nothing is started', async () => {
    const temp = await workedSession();

    const run = await inWorkspace(temp, 'resume s --exec', { PATH: 'relative:' });

    expect([run.code, run.out]).toEqual([3, '']);
  });

  test('given no session at all, then there is nothing to resume', async () => {
    const { root } = tempStore();

    const run = await runCommandLine(['resume', '--json'], { root });

    expect([run.code, errorOf(run.out).code]).toEqual([3, 'NOTHING_TO_RESUME']);
  });
});

describe('exit code 4: busy', () => {
  let root = '';
  let holder: ChildProcess;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'zs-busy-'));
    laySession(root, aSession().withMessages(9).withMetadata({ cwd: tmpdir(), specId: 'x' }));
    holder = spawn('flock', ['-x', join(root, 's', 'session.lock'), 'sh', '-c', 'echo held; read line']);
    await once(holder.stdout as NonNullable<ChildProcess['stdout']>, 'data');
  });
  afterAll(() => {
    holder.stdin?.end();
    rmSync(root, { recursive: true, force: true });
  });

  test.each([
    'create --parent s',
    'append s',
    'rename s other',
    'fork s',
    'rewind s --to 1 --events-only',
    'rewind s --undo',
    'rewind s --abort',
    'rewind s --continue',
    'compact s --preserve-last 1 --summary x',
    'compact s --undo',
    'checkpoint capture s zs-nothing',
    'checkpoint restore s --to 1',
    'spec record s --spec-status draft',
    'spec implement s --prompt x',
    'resume s --fork',
  ])('given %s while somebody else writes, then it gives up in time', async (line) => {
    const before = contents(join(root, 's'));

    const run = await runCommandLine([...line.split(' '), '--json', '--lock-timeout', '0'], { root, stdin: EVENT });

    expect([run.code, errorOf(run.out).code]).toEqual([4, 'SESSION_BUSY']);
    expect(contents(join(root, 's'))).toEqual(before);
  });

  test.each(['list', 'show s', 'tree', 'rewind s --to 1 --events-only --dry-run', 'compact s', 'resume s'])(
    'given %s, which only reads, then it does not wait',
    async (line) => {
      const run = await runCommandLine([...line.split(' '), '-q', '--lock-timeout', '0'], { root });

      expect(run.code).toBe(0);
    },
  );

  test('given list, then the session is marked live', async () => {
    const run = await runCommandLine(['list', '--json'], { root });

    expect(JSON.parse(run.out).sessions[0].live).toBe(process.platform === 'linux' ? true : null);
  });
});

describe('exit code 5: damaged', () => {
  test.each([
    ['show bad', undefined],
    ['tree', undefined],
    ['children bad', undefined],
    ['lineage orphan', undefined],
    ['checkpoint list bad', undefined],
    ['lineage broken', 'METADATA_DAMAGED'],
    ['create --parent broken', 'METADATA_DAMAGED'],
    ['append broken', 'METADATA_DAMAGED'],
    ['append lost', 'LOG_MISSING'],
    ['rename broken x', 'METADATA_DAMAGED'],
    ['rewind bad --to 1 --dry-run', 'LOG_DAMAGED'],
    ['rewind bad --to 1', 'LOG_DAMAGED'],
    ['rewind bad --undo', 'LOG_DAMAGED'],
    ['compact bad', 'LOG_DAMAGED'],
    ['compact bad --summary x', 'LOG_DAMAGED'],
    ['checkpoint capture broken a.txt --workspace /tmp', 'METADATA_DAMAGED'],
    ['checkpoint show bad 1', 'LOG_DAMAGED'],
    ['checkpoint diff bad 1', 'LOG_DAMAGED'],
    ['checkpoint restore bad --to 1', 'LOG_DAMAGED'],
    ['spec record broken --spec-status draft', 'METADATA_DAMAGED'],
    ['spec implement broken --prompt x --spec-id x', 'METADATA_DAMAGED'],
    ['spec show broken', 'METADATA_DAMAGED'],
    ['fork bad', 'LOG_DAMAGED'],
    ['resume bad', 'LOG_DAMAGED'],
    ['resume bad --fork', 'LOG_DAMAGED'],
    ['tree ring1', 'CYCLE'],
    ['lineage ring1', 'CYCLE'],
  ])('given %s, then it is so, with %s for an error', async (line, code) => {
    const { root } = tempStore([
      aSession('bad').withMessages(1).withLine('not json').withMessages(1),
      aSession('broken').withMetadataText('{'),
      aSession('lost').withMetadata({ eventCount: 3 }).withoutLog(),
      aSession('orphan').withMetadata({ sessionKind: 'child', parentSessionId: 'broken' }),
      aSession('ring1').withMetadata({ sessionKind: 'child', parentSessionId: 'ring2' }),
      aSession('ring2').withMetadata({ sessionKind: 'child', parentSessionId: 'ring1' }),
    ]);

    const run = await runCommandLine([...line.split(' '), '--json'], { root, stdin: EVENT });

    expect([run.code, JSON.parse(run.out).error?.code]).toEqual([5, code]);
    expect(run.err).not.toBe('');
  });

  test('given a blob that was lost, then what is good is shown beside it', async () => {
    const temp = await workedSession();
    rmSync(temp.path('checkpoints', 'blobs'), { recursive: true });

    const diff = await inWorkspace(temp, 'checkpoint diff s 1 --json');
    const show = await inWorkspace(temp, 'checkpoint show s 1 a.txt --json');

    expect([diff.code, show.code]).toEqual([5, 5]);
    expect(JSON.parse(diff.out).files.map((file: { status: string }) => file.status)).toEqual(['unknown', 'added']);
    expect(errorOf(show.out).code).toBe('PAYLOAD_DAMAGED');
  });
});

describe('exit code 6: incomplete', () => {
  test.each([
    'rewind s --to 1',
    'rewind s --to 1 --dry-run',
    'checkpoint restore s --to 1',
    'checkpoint restore s --to 1 --dry-run',
  ])('given %s and a blob that is gone, then the plan says so and nothing is changed', async (line) => {
    const temp = await workedSession();
    rmSync(temp.path('checkpoints', 'blobs'), { recursive: true });
    mkdirSync(temp.path('checkpoints', 'blobs'));
    const before = temp.everything();

    const run = await inWorkspace(temp, `${line} --json`);

    const document = JSON.parse(run.out);
    const plan = line.endsWith('--dry-run') ? document.plan : errorOf(run.out).plan;
    expect([run.code, plan.complete, plan.files[0].action]).toEqual([6, false, 'impossible']);
    expect(temp.everything()).toEqual(before);
  });

  test.each(['rewind s --to 1', 'rewind s --to 1 --dry-run', 'checkpoint restore s --to 1'])(
    'given %s and no workspace, then the error has the plan',
    async (line) => {
      const temp = await workedSession();
      rmSync(temp.workspace, { recursive: true });

      const run = await runCommandLine([...line.split(' '), '--json'], { root: temp.root });

      const error = errorOf(run.out);
      expect([run.code, error.code, error.plan.target, error.plan.complete]).toEqual([
        6,
        'WORKSPACE_REFUSED',
        1,
        false,
      ]);
    },
  );

  test.each(['checkpoint capture s a.txt', 'checkpoint capture s a.txt --workspace /nowhere/at/all'])(
    'given %s and no folder to take files from, then it says how to name one',
    async (line) => {
      const { root } = tempStore(aSession());

      const run = await runCommandLine([...line.split(' '), '--json'], { root });

      expect([run.code, errorOf(run.out).hint]).toEqual([6, expect.stringContaining('--workspace')]);
    },
  );

  test('given an undo and no workspace, then it is refused', async () => {
    const temp = await workedSession();
    expect((await inWorkspace(temp, 'rewind s --to 1')).code).toBe(0);
    rmSync(temp.workspace, { recursive: true });

    const run = await runCommandLine(['rewind', 's', '--undo', '--json'], { root: temp.root });

    expect([run.code, errorOf(run.out).code]).toEqual([6, 'WORKSPACE_REFUSED']);
  });

  test('given --allow-partial, then the rest is done and what was left out is told', async () => {
    const temp = await workedSession();
    rmSync(temp.path('checkpoints', 'blobs'), { recursive: true });

    const run = await inWorkspace(temp, 'rewind s --to 1 --allow-partial --json');

    expect(run.code).toBe(0);
    expect(JSON.parse(run.out).report).toMatchObject({ filesDeleted: 1, skipped: [{ path: 'a.txt' }] });
  });
});

describe('exit code 7: conflict', () => {
  test.each([
    'rewind s --to 1',
    'rewind s --to 1 --dry-run',
    'checkpoint restore s --to 1',
    'checkpoint restore s --to 1 --dry-run',
  ])("given %s and somebody's change, then the plan says so and nothing is changed", async (line) => {
    const temp = await workedSession();
    temp.put({ 'a.txt': 'mine\n' });
    const before = temp.everything();

    const run = await inWorkspace(temp, `${line} --json`);

    const plan = line.endsWith('--dry-run') ? JSON.parse(run.out).plan : errorOf(run.out).plan;
    expect([run.code, plan.files[0].action]).toEqual([7, 'conflict']);
    expect(temp.everything()).toEqual(before);
  });

  test.each(['rewind s --to 1 --force', 'rewind s --to 1 --force --dry-run'])(
    'given %s, then it is 0',
    async (line) => {
      const temp = await workedSession();
      temp.put({ 'a.txt': 'mine\n' });

      expect((await inWorkspace(temp, line)).code).toBe(0);
    },
  );

  test.each(['rewind s --undo', 'rewind s --undo --dry-run'])(
    'given %s and a change since, then it is refused',
    async (line) => {
      const temp = await workedSession();
      await inWorkspace(temp, 'rewind s --to 1');
      temp.put({ 'a.txt': 'mine\n' });

      expect((await inWorkspace(temp, line)).code).toBe(7);
    },
  );

  test.each(['rewind s --to 1 --expect-head 7', 'rewind s --to 1 --expect-head 7 --dry-run'])(
    'given %s and a log that moved on, then the error has the plan',
    async (line) => {
      const temp = await workedSession();

      const run = await inWorkspace(temp, `${line} --json`);

      const error = errorOf(run.out);
      expect([run.code, error.code, error.found, error.plan.head]).toEqual([7, 'STALE_PLAN', 8, 8]);
    },
  );

  test.each(['create --id s', 'create --id s --parent child', 'fork child --id s'])(
    'given %s, then the id is in use',
    async (line) => {
      const temp = await workedSession();

      const run = await inWorkspace(temp, `${line} --json`);

      expect([run.code, errorOf(run.out).code]).toEqual([7, 'SESSION_EXISTS']);
    },
  );
});

describe('exit code 130: interrupted', () => {
  test.each([...OF_NOBODY.map((line) => line.replaceAll('nobody', 's')), 'list', 'create', 'info', 'schema'])(
    'given %s and Ctrl-C, then nothing is said and nothing is changed',
    async (line) => {
      const { root } = tempStore(aSession().withMessages(9).withMetadata({ cwd: tmpdir(), specId: 'x' }));
      const interrupt = new AbortController();
      interrupt.abort(new InterruptedError());
      const before = contents(root);

      const run = await runCommandLine(line.split(' '), { root, signal: interrupt.signal, stdin: EVENT });

      expect([run.code, run.err]).toEqual([130, '']);
      expect(contents(root)).toEqual(before);
    },
  );

  test('given a summarizer that is still at work, then nothing is recorded', async () => {
    const { root, text } = tempStore(aSession().withMessages(9));
    const before = text('events.jsonl');
    const interrupt = new AbortController();
    const folder = mkdtempSync(join(tmpdir(), 'zs-interrupt-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));

    const running = runCommandLine(['compact', 's', '--summarizer', 'touch started; exec sleep 60'], {
      root,
      cwd: folder,
      env: { PATH: process.env.PATH ?? '' },
      signal: interrupt.signal,
    });
    await vi.waitUntil(() => existsSync(join(folder, 'started')), { timeout: 20_000 });
    interrupt.abort(new InterruptedError());
    const run = await running;

    expect([run.code, run.err, text('events.jsonl')]).toEqual([130, '', before]);
  });
});

function inWorkspace(temp: TempWorkspace, line: string, env: Readonly<Record<string, string>> = {}) {
  return runCommandLine(line.split(' '), { root: temp.root, cwd: temp.workspace, now: temp.clock.now, env });
}
