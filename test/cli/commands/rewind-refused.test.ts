import fs, {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { contents, type TempWorkspace } from '../../support/temp-workspace.js';
import { appendIntent, appendLine } from '../../support/unfinished-rewind.js';
import { workedSession } from '../../support/worked-session.js';

function run(temp: TempWorkspace, line: string) {
  const { root, clock } = temp;
  return runCommandLine(line.split(' '), { root, now: clock.now, cwd: '/' });
}

/** Lets calls of the machine's file system fail until the test is over. */
function failing<Name extends 'writeSync' | 'accessSync'>(
  name: Name,
  isHit: (first: unknown) => boolean,
  code: string,
) {
  const real = fs[name] as (...args: unknown[]) => unknown;
  const faulty = (...args: unknown[]): unknown => {
    if (isHit(args[0])) throw Object.assign(new Error(`${code}: told to fail`), { code });
    return real(...args);
  };
  Object.assign(fs, { [name]: faulty });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { [name]: real });
    syncBuiltinESMExports();
  });
}

const other = (temp: TempWorkspace): string => join(dirname(temp.workspace), 'other-project');
const blobs = (temp: TempWorkspace): readonly string[] =>
  readdirSync(temp.path('checkpoints/blobs')).map((name) => temp.path('checkpoints/blobs', name));

/** What stands in the way of `rewind s --to 1`, which brings a.txt back and removes new.txt. */
const OBSTACLES: readonly {
  readonly name: string;
  readonly code: number;
  readonly tells: RegExp;
  readonly put?: (temp: TempWorkspace) => unknown;
  readonly flags?: (temp: TempWorkspace) => string;
}[] = [
  {
    name: 'a blob missing',
    code: 6,
    tells: /"a.txt" its blob [0-9a-f]{8}… is missing/,
    put: (temp) => blobs(temp).map((blob) => unlinkSync(blob)),
  },
  {
    name: 'a blob altered',
    code: 6,
    tells: /"a.txt" its blob [0-9a-f]{8}… was altered/,
    put: (temp) => blobs(temp).map((blob) => writeFileSync(blob, 'altered')),
  },
  {
    name: 'a target that is a folder now',
    code: 6,
    tells: /"a.txt" is a folder now/,
    put: (temp) => {
      temp.put({ 'a.txt': null });
      temp.put({ 'a.txt/inside': 'x' });
    },
  },
  {
    name: 'a target that cannot be written',
    code: 6,
    tells: /"a.txt" its folder cannot be written to/,
    put: (temp) => failing('accessSync', (path) => path === temp.workspace, 'EACCES'),
  },
  {
    name: 'a workspace that moved',
    code: 6,
    tells: /Workspace ".*\/workspace" is not there/,
    put: (temp) => renameSync(temp.workspace, `${temp.workspace}-moved`),
  },
  {
    name: 'the workspace of another project',
    code: 6,
    tells: /Workspace ".*\/other-project" is not the session's own/,
    flags: (temp) => ` --workspace ${other(temp)}`,
  },
  {
    name: 'a full disk',
    code: 1,
    tells: /ENOSPC/,
    put: () => failing('writeSync', (fd) => Number(fd) > 2, 'ENOSPC'),
  },
  {
    name: 'a target that somebody changed',
    code: 7,
    tells: /"a.txt" edited outside the session at /,
    put: (temp) => temp.put({ 'a.txt': 'mine\n' }),
  },
  {
    name: 'a log that moved on',
    code: 7,
    tells: /Session s ends with event 8, not 5/,
    flags: () => ' --expect-head 5',
  },
];

describe('a rewind with something in its way', () => {
  test.each(OBSTACLES.map((obstacle) => [obstacle.name, obstacle.code, obstacle] as const))(
    'given %s, then it exits with %i, names it, and leaves all as it was',
    async (_, code, { tells, put, flags }) => {
      const temp = await workedSession();
      mkdirSync(other(temp));
      writeFileSync(join(other(temp), 'a.txt'), 'of another project');
      utimesSync(join(other(temp), 'a.txt'), 0, 0);
      put?.(temp);
      const line = `rewind s --to 1${flags?.(temp) ?? ''}`;
      const everything = () => contents(dirname(temp.root)).filter((each) => !/session\.lock|\.zs-locks/.test(each));
      const before = everything();

      const text = await run(temp, line);
      const json = await run(temp, `${line} --json`);

      expect([text.code, text.out, text.err]).toEqual([code, '', expect.stringMatching(tells)]);
      expect(text.err.trimEnd().split('\n').at(-1)).toMatch(/^ {2}\S/); // what to do next
      const error = errorOf(json.out);
      expect([json.code, error.message, error.plan !== undefined]).toEqual([
        code,
        expect.stringMatching(tells),
        code !== 1,
      ]);
      expect(everything().filter((each) => !/^"sessions\/s\/\.zs(\/kept)?" folder/.test(each))).toEqual(before);
    },
  );
});

describe('the way out that a refusal names', () => {
  test.each(['rewind s --to 1', 'rewind s --undo', 'checkpoint restore s --to 1'])(
    'given %s and blobs that are gone, then --allow-partial does the rest',
    async (line) => {
      const temp = await workedSession();
      if (line.endsWith('--undo')) await run(temp, 'rewind s --to 1');
      rmSync(temp.path('.zs/blobs'), { recursive: true, force: true });
      for (const blob of blobs(temp)) unlinkSync(blob);

      const refused = await run(temp, line);
      const partial = await run(temp, `${line} --allow-partial --json`);

      expect([refused.code, refused.err]).toEqual([6, expect.stringContaining('--allow-partial')]);
      expect(partial.code).toBe(0);
      expect(JSON.parse(partial.out).report.skipped).not.toEqual([]);
    },
  );
});

describe('an error with exit 6 or 7', () => {
  /** Leaves an intent in the log that somebody wrote after. */
  function interrupted(temp: TempWorkspace): void {
    appendIntent(temp, { workspace: temp.workspace, files: [{ path: 'new.txt', absent: true, to: { absent: true } }] });
    appendLine(temp, 10, 'message', { role: 'user', content: 'meanwhile' });
  }

  test.each([
    ['rewind s --to 1', 1, [2, 3, 4, 5, 6, 7, 8, 9, 10], ['a.txt', 'new.txt']],
    ['rewind s --to 1 --dry-run', 1, [2, 3, 4, 5, 6, 7, 8, 9, 10], ['a.txt', 'new.txt']],
    ['rewind s --to 5 --events-only', 5, [6, 7, 8, 9, 10], []],
    ['checkpoint restore s --to 1 a.txt', 1, [], ['a.txt']],
  ])('given %s and an interrupted rewind, then it has the plan', async (line, target, dropped, paths) => {
    const temp = await workedSession();
    interrupted(temp);

    const { code, out } = await run(temp, `${line} --json`);

    const error = errorOf(out);
    expect([code, error.code, error.plan.target, error.plan.complete]).toEqual([
      7,
      'INTERRUPTED_REWIND',
      target,
      false,
    ]);
    expect(error.plan.dropped.map((each: { sequence: number }) => each.sequence)).toEqual(dropped);
    expect(error.plan.files.map((each: { path: string }) => each.path)).toEqual(paths);
  });

  test.each(['rewind s --undo', 'rewind s --undo --dry-run'])(
    'given %s and no workspace, or an interrupted rewind, then it has the plan',
    async (line) => {
      const temp = await workedSession();
      await run(temp, 'rewind s --to 1');
      renameSync(temp.workspace, `${temp.workspace}-away`);
      const gone = errorOf((await run(temp, `${line} --json`)).out);
      renameSync(`${temp.workspace}-away`, temp.workspace);
      interrupted(temp);
      const between = errorOf((await run(temp, `${line} --json`)).out);

      expect([gone.code, gone.plan]).toMatchObject(['WORKSPACE_REFUSED', { target: 8, files: [], complete: false }]);
      expect(gone.plan.dropped).toMatchObject([{ type: 'session_rewind' }]);
      expect([between.code, between.plan]).toMatchObject(['INTERRUPTED_REWIND', { target: 8, complete: false }]);
      expect(between.plan.files).toMatchObject([{ path: 'a.txt', action: 'restore' }, { path: 'new.txt' }]);
    },
  );

  test('given --continue and no workspace, then it has the plan of what was interrupted', async () => {
    const temp = await workedSession();
    interrupted(temp);
    renameSync(temp.workspace, `${temp.workspace}-away`);

    const { code, out } = await run(temp, 'rewind s --continue --json');

    const { plan, ...error } = errorOf(out);
    expect([code, error.code, plan.target, plan.complete]).toEqual([7, 'INTERRUPTED_REWIND', 1, false]);
    expect(plan.files).toMatchObject([{ path: 'a.txt', action: 'impossible' }, { path: 'new.txt' }]);
    expect(plan.dropped).toHaveLength(9);
  });

  test('given a restore and no workspace, then no event of its plan is dropped', async () => {
    const temp = await workedSession();
    renameSync(temp.workspace, `${temp.workspace}-away`);

    const { plan } = errorOf((await run(temp, 'checkpoint restore s --to 1 --json')).out);

    expect(plan).toMatchObject({
      target: 1,
      dropped: [],
      files: [{ path: 'a.txt' }, { path: 'new.txt' }],
      complete: false,
    });
  });

  test('given a log that moved on, then the plan is one that can be carried out', async () => {
    const temp = await workedSession();

    const { plan } = errorOf((await run(temp, 'rewind s --to 1 --expect-head 7 --json')).out);

    expect(plan).toMatchObject({ head: 8, complete: true });
    expect((await run(temp, `rewind s --to 1 --expect-head ${plan.head}`)).code).toBe(0);
    expect(readFileSync(temp.at('a.txt'), 'utf8')).toBe('one\n');
  });
});
