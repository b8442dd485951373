import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentOf, errorOf } from '../../support/json-document.js';
import { type CliSurroundings, runCommandLine } from '../../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { workedSession } from '../../support/worked-session.js';

function run(temp: TempWorkspace, line: string, surroundings: CliSurroundings = {}) {
  const { root, clock, workspace } = temp;
  const argv = ['checkpoint', ...line.split(' ')];
  return runCommandLine(argv, { root, now: clock.now, cwd: workspace, ...surroundings });
}

describe('checkpoint capture', () => {
  test('given files, a missing one and a folder, then each is said, and the folder is left out', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'one\n', 'sub/b.txt': 'two\n' });

    const { code, out, err } = await run(temp, 'capture s a.txt new.txt sub --tool edit');

    expect([code, err]).toEqual([0, 'sub is a folder: name the files in it.\n']);
    expect(out).toBe(
      [
        'Checkpoint 1 of s',
        '',
        'PATH     STATE      BYTES  MODE',
        'a.txt    kept         4 B   644',
        'new.txt  not there',
        '',
      ].join('\n'),
    );
    expect(temp.log()).toContain('"tool":"edit"');
  });

  test('given another folder, then paths are taken from that of the session all the same', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'one\n' });

    const { out } = await run(temp, 'capture s a.txt --json', { cwd: '/' });

    const { event } = await documentOf('checkpoint capture', out);
    expect(event.payload.files).toMatchObject([{ path: 'a.txt', bytes: 4 }]);
  });

  test('given a path that is only in the present folder, then it is refused rather than recorded as absent', async () => {
    const temp = await tempWorkspace();
    writeFileSync(join(temp.outside, 'b.txt'), 'two\n');

    const { code, out } = await run(temp, 'capture s b.txt --json', { cwd: temp.outside });

    expect([code, errorOf(out).hint]).toEqual([3, expect.stringContaining('--workspace')]);
    expect(temp.log()).toBe('');
  });

  test('given an absolute path inside, then it is the same file', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'one\n' });

    const { out } = await run(temp, `capture s ${temp.at('a.txt')}`, { cwd: '/' });

    expect(out).toContain('a.txt  kept');
  });

  test('given --workspace, then files are taken from there', async () => {
    const temp = await tempWorkspace();
    writeFileSync(join(temp.outside, 'o.txt'), 'out\n');

    expect((await run(temp, 'capture s o.txt --workspace ../outside')).out).toContain('o.txt  kept');
  });

  test('given that checkpoints are off, then nothing is recorded and that is said', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'one\n' });

    const { code, out, err } = await run(temp, 'capture s a.txt --json', { env: { ZERO_CHECKPOINTS: 'off' } });

    expect([code, JSON.parse(out).event, err]).toEqual([0, null, expect.stringContaining('ZERO_CHECKPOINTS')]);
  });
});

describe('checkpoint list', () => {
  test('given checkpoints, then each says when, by what and which files; ours are not among them', async () => {
    const temp = await workedSession();
    await runCommandLine(['rewind', 's', '--to', '4', '--files-only'], { root: temp.root, now: temp.clock.now });

    const { out } = await run(temp, 'list s');

    expect(out).toBe(
      [
        'SEQ  WHEN                  TOOL        FILES',
        '  3  2026-07-09T12:00:02Z  write_file  a.txt, new.txt',
        '',
      ].join('\n'),
    );
  });

  test('given one that cannot be decoded, then the others are shown and the exit code is 5', async () => {
    const temp = await workedSession();
    await temp.store.appendEvent('s', { type: 'session_checkpoint', payload: { tool: 'x', files: 'none' } });

    const { code, out, err } = await run(temp, 'list s -q');

    expect([code, out]).toEqual([5, '3\n']);
    expect(err).toContain('s:9');
  });
});

describe('a folder that became a file, and one that became a link', () => {
  async function changed(): Promise<TempWorkspace> {
    const temp = await tempWorkspace();
    temp.put({ 'd/x': 'x0\n', 'd/y': 'y0\n', 'e/x': 'of e\n', 'e/z': 'of e\n', 'm/z': 'z0\n' });
    await temp.say();
    await temp.tool({ 'd/x': null, 'd/y': null, 'm/z': null });
    for (const folder of ['d', 'm']) rmdirSync(temp.at(folder));
    await temp.tool({ d: 'a file\n', m: { link: 'e' } });
    return temp;
  }

  test('given a point, then each is what it was then, whatever stands there now', async () => {
    const temp = await changed();

    expect((await run(temp, 'show s 1 d/x')).out).toBe('x0\n');
    expect((await run(temp, 'show s 1 m/z')).out).toBe('z0\n');
    expect((await run(temp, 'show s 7 d')).out).toBe('a file\n');
    expect(await run(temp, 'show s 7 d/x')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There was no d/x'),
    });
    expect(await run(temp, 'show s 7 m/z')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There was no m/z'),
    });
    expect(await run(temp, 'show s 1 d')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"d" was a folder of "d/x", "d/y"\n'),
    });
  });

  test('given a diff, then what was in them is deleted, and what the link leads to is not looked at', async () => {
    const temp = await changed();

    const { code, out } = await run(temp, 'diff s 1 --json');

    const { files } = await documentOf('checkpoint diff', out);
    expect([code, files.map(({ path, status }: { path: string; status: string }) => `${path} ${status}`)]).toEqual([
      0,
      ['d/x deleted', 'd/y deleted', 'm/z deleted', 'd added', 'm added'],
    ]);
  });

  test('given one of them to restore, then what is in its way is named', async () => {
    const temp = await changed();

    const refused = await run(temp, 'restore s --to 1 d/x');
    const whole = await run(temp, 'restore s --to 1 d');

    expect([refused.code, refused.err]).toEqual([
      6,
      expect.stringContaining('"d/x" cannot be reached: "d" is no folder'),
    ]);
    expect(whole.code).toBe(0);
    expect(temp.files().join()).toContain('"d/y" file');
  });
});

describe('checkpoint show', () => {
  test('given a point before the change, then files are what they were', async () => {
    const temp = await workedSession();

    const { out } = await run(temp, 'show s 1');

    expect(out).toBe(
      [
        'Files just after event 1 of s',
        '',
        'PATH     STATE      BYTES  MODE',
        'a.txt    kept         4 B   644',
        'new.txt  not there',
        '',
      ].join('\n'),
    );
  });

  test('given a path, then a pipe gets what the file held, byte for byte', async () => {
    const temp = await tempWorkspace();
    const bytes = Buffer.from([0, 255, 27, 10, 13, 10, 9]);
    temp.put({ 'a.bin': bytes });
    await temp.say();
    await temp.tool({ 'a.bin': 'text' });

    const then = await run(temp, 'show s 1 a.bin');
    const now = await run(temp, 'show s 4 a.bin');
    const json = await run(temp, 'show s 1 a.bin --json');

    expect(Buffer.from(then.outBytes)).toEqual(bytes);
    expect(now.out).toBe('text');
    expect((await documentOf('checkpoint show', json.out)).files).toMatchObject([{ path: 'a.bin', content: null }]);
  });

  test('given a terminal, then it is drawn, never obeyed', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'a\u001b[2J\tb\n', 'a.bin': Buffer.from([0, 27]) });
    await temp.say();
    await temp.tool({ 'a.txt': '', 'a.bin': '' });

    expect((await run(temp, 'show s 1 a.txt', { columns: 80 })).out).toBe('a\\u{1b}[2J      b\n');
    expect((await run(temp, 'show s 1 a.bin', { columns: 80, env: { NO_COLOR: '1' } })).out).toBe('No text: 2 B\n');
  });

  test('given a secret in a file, then it is hidden unless --no-redact', async () => {
    const temp = await tempWorkspace();
    const secret = 'password=hunter2hunter2\n';
    temp.put({ '.env': secret, 'a.bin': Buffer.concat([Buffer.from([0, 200]), Buffer.from(secret)]) });
    await temp.say();
    await temp.tool({ '.env': '', 'a.bin': '' });

    const binary = await run(temp, 'show s 1 a.bin');

    const shown = await run(temp, 'show s 1 .env');
    expect(shown.out).toBe('password=[REDACTED]\n');
    expect((await run(temp, 'show s 1 .env --no-redact')).out).toBe(secret);
    expect(Buffer.from(binary.outBytes).toString('latin1')).toBe('\u0000\u00c8password=[REDACTED]\n');
  });

  test('given a link, then where it led is shown', async () => {
    const temp = await tempWorkspace();
    temp.put({ link: { link: 'nowhere' } });
    await temp.say();
    await temp.tool({ link: null });

    expect(await run(temp, 'show s 1 link')).toMatchObject({ code: 0, out: 'nowhere\n' });
  });
});

describe('checkpoint diff', () => {
  test('given changes, then they are shown as git shows them, and git can take them back', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'one\ntwo\n\tthree\n', 'gone.txt': 'x\n', 'run.sh': '#!/bin/sh\n', 'same.txt': 'same\n' });
    await temp.say();
    await temp.tool({
      'a.txt': 'one\n2\n\tthree',
      'gone.txt': null,
      'new.txt': 'new\n',
      'run.sh': { mode: 0o755 },
      'same.txt': 'same\n',
    });
    const before = temp.files();

    const { code, out, err } = await run(temp, 'diff s');

    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
-\tthree
+2
+\tthree
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,1 +0,0 @@
-x
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,1 @@
+new
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`,
    );
    const git = (...argv: readonly string[]) =>
      spawnSync('git', ['apply', ...argv], { cwd: temp.workspace, input: out });
    expect(git('-R').status).toBe(0);
    expect((await run(temp, 'diff s -q')).out).toBe('');
    expect(git().status).toBe(0);
    expect(temp.files()).toEqual(before);
  });

  test('given two points, then the workspace does not matter', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': '1\n' });
    await temp.say();
    await temp.tool({ 'a.txt': '2\n' });
    await temp.tool({ 'a.txt': '3\n' });
    temp.put({ 'a.txt': 'mine\n' });

    const { files } = await documentOf('checkpoint diff', (await run(temp, 'diff s 1 --to 4 --json')).out);

    expect(files).toMatchObject([{ path: 'a.txt', status: 'modified', binary: false }]);
    expect(files[0].diff).toContain('-1\n+2\n');
  });

  test('given a path, a folder, or a name that looks like a position, then only that is shown', async () => {
    const temp = await tempWorkspace();
    await temp.tool({ 'sub/a': 'a', 'sub/b': 'b', c: 'c', 3: '3' });

    expect((await run(temp, 'diff s sub -q')).out).toBe('sub/a\nsub/b\n');
    expect((await run(temp, 'diff s 0 c -q')).out).toBe('c\n');
    expect((await run(temp, 'diff s ./3 -q')).out).toBe('3\n');
    expect((await run(temp, `diff s 0 ${temp.at('c')} -q`)).out).toBe('c\n');
  });

  test('given binary files, links and files that were not captured, then it says so', async () => {
    const temp = await tempWorkspace({ env: { ZERO_CHECKPOINT_MAX_BYTES: '10' } });
    temp.put({ bin: Buffer.from([0, 1]), link: { link: 'x' }, big: 'x'.repeat(11) });
    await temp.tool({ bin: Buffer.from([0, 2]), link: { link: 'y' }, big: 'small' });

    const { code, out, err } = await run(temp, 'diff s 0');

    expect(code).toBe(0);
    expect(out).toContain('Binary files a/bin and b/bin differ\n');
    expect(out).toContain('-x\n\\ No newline at end of file\n+y\n');
    expect(err).toBe('big was not captured.\n');
  });

  test('given a terminal, then added and removed lines are coloured, and content commands nothing', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'old\u001b[2J\n' });
    await temp.tool({ 'a.txt': 'new\n' });

    const { out } = await run(temp, 'diff s 0', { columns: 80 });

    expect(out).toContain('\u001b[31m-old\\u{1b}[2J\u001b[39m\n\u001b[32m+new\u001b[39m\n');
  });

  test('given a change in nothing but a secret, then it is said that something is hidden', async () => {
    const temp = await tempWorkspace();
    temp.put({ '.env': 'password=hunter2hunter2\n' });
    await temp.tool({ '.env': 'password=hunter3hunter3\n' });

    const hidden = await run(temp, 'diff s 0');
    const shown = await run(temp, 'diff s 0 --no-redact');

    expect([hidden.out, hidden.err]).toEqual(['diff --git a/.env b/.env\n', expect.stringContaining('--no-redact')]);
    expect(shown.out).toContain('+password=hunter3hunter3\n');
  });
});

describe('checkpoint restore', () => {
  test('finding 9: given files that are so already, then it says so, writes nothing and offers no undo', async () => {
    const temp = await workedSession();
    await run(temp, 'restore s --to 1 -q');
    const before = temp.everything();
    const said = 'Files are already as they were just after event 1\n';

    expect(await run(temp, 'restore s --to 1')).toMatchObject({ code: 0, out: expect.stringMatching(`^${said}`) });
    expect(await run(temp, 'restore s --to 1 --dry-run')).toMatchObject({ code: 0, out: expect.stringMatching(said) });
    expect((await run(temp, 'restore s --to 1')).out).not.toMatch(/undo/i);
    expect(await run(temp, 'restore s --to 1 -q')).toMatchObject({ code: 0, out: '' });
    const { report } = await documentOf('checkpoint restore', (await run(temp, 'restore s --to 1 --json')).out);
    expect(report).toMatchObject({ rewindId: null, filesRestored: 1, filesDeleted: 1 });

    expect(temp.everything()).toEqual(before);
  });

  test('finding 8: given one in the log, then no list of checkpoints has it, and the conversation tells what it is', async () => {
    const temp = await workedSession();
    const listed = (await run(temp, 'list s')).out;
    const shown = async () => (await runCommandLine(['show', 's'], { root: temp.root, now: temp.clock.now })).out;
    const counted = (text: string) => /^checkpoints +(\d+)$/m.exec(text)?.[1];
    const count = counted(await shown());

    await run(temp, 'restore s --to 1');

    expect((await run(temp, 'list s')).out).toBe(listed);
    expect(counted(await shown())).toBe(count);
    expect(count).toBeDefined();
    expect(await shown()).toContain('files as a restore found them: 2 files');
    expect((await run(temp, 'show s last-checkpoint -q')).code).toBe(0);
  });

  test('given paths, then only they go back, no event is dropped, and rewind --undo takes it back', async () => {
    const temp = await workedSession();
    const before = temp.files();

    const restore = await run(temp, 'restore s --to 1 a.txt');

    expect(restore).toMatchObject({ code: 0, out: expect.stringMatching(/^Brought files back to event 1 of s\n/) });
    expect(temp.sequences().slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(temp.files().join()).toContain('new.txt');
    expect(temp.files()).not.toEqual(before);
    const undo = await runCommandLine(['rewind', 's', '--undo'], { root: temp.root, now: temp.clock.now });
    expect([undo.code, temp.files()]).toEqual([0, before]);
  });

  test('given a path of an earlier checkpoint only, then there is nothing to do', async () => {
    const temp = await workedSession();

    expect((await run(temp, 'restore s --to 4 a.txt -q')).code).toBe(0);
  });

  test('given a folder, then all that is in it goes back', async () => {
    const temp = await tempWorkspace();
    mkdirSync(temp.at('sub'));
    await temp.say();
    await temp.tool({ 'sub/a': 'a', 'sub/b': 'b', c: 'c' });

    expect((await run(temp, 'restore s --to 1 --dry-run -q sub')).out).toBe('sub/a\nsub/b\n');
  });
});

describe('finding 39: a secret in what goes into a file or a pipe', () => {
  const SECRET = 'password=hunter2hunter2\n';
  const REPLACED = /^warning: What looks like a secret was replaced by \[REDACTED\]; --(no-redact|raw) gives .*\n/;

  async function aSecretOnceKept(): Promise<TempWorkspace> {
    const temp = await tempWorkspace();
    temp.put({ '.env': SECRET, 'password=hunter2hunter2': SECRET });
    await temp.say(SECRET);
    await temp.tool({ '.env': '', 'password=hunter2hunter2': '' });
    return temp;
  }

  test.each([
    'checkpoint show s 1 .env',
    'checkpoint show s 1 .env -q',
    'checkpoint show s 1 .env --json',
    'checkpoint show s 1',
    'checkpoint list s --jsonl',
    'checkpoint diff s 1',
    'checkpoint diff s 1 -q',
    'checkpoint restore s --to 1 --dry-run',
    'show s',
    'show s --events',
    'show s --json',
    'show s --jsonl',
  ])('given %s, then one warning says that it was replaced, and none with --no-redact', async (line) => {
    const temp = await aSecretOnceKept();
    const runLine = (argv: readonly string[], surroundings: CliSurroundings = {}) =>
      runCommandLine(argv, { root: temp.root, now: temp.clock.now, cwd: temp.workspace, ...surroundings });

    const piped = await runLine(line.split(' '));
    const whole = await runLine([...line.split(' '), '--no-redact']);
    const terminal = await runLine(line.split(' '), { columns: 120 });

    expect(piped.err).toMatch(REPLACED);
    expect(piped.err.match(/looks like a secret/g)).toHaveLength(1);
    expect(piped.out).not.toContain('hunter2');
    expect(whole.err + terminal.err).not.toContain('was replaced');
  });

  test('given checkpoint show --raw, then the bytes are those that were kept', async () => {
    const temp = await aSecretOnceKept();

    const raw = await run(temp, 'show s 1 .env --raw');
    const noPath = await run(temp, 'show s 1 --raw');

    expect([raw.out, raw.err]).toEqual([SECRET, '']);
    expect(noPath.code).toBe(2);
  });

  test('given nothing to hide, then nothing is said', async () => {
    const temp = await workedSession();

    expect((await run(temp, 'show s 1 a.txt')).err).toBe('');
  });
});

describe('finding 36: a path that is typed', () => {
  /** `a.txt` and `sub/a.txt`, changed after event 1; `elsewhere` beside the workspace is a link to it. */
  async function twoOfOneName(): Promise<TempWorkspace> {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'top\n', 'sub/a.txt': 'below\n', alias: { link: 'sub' } });
    symlinkSync(temp.workspace, `${temp.outside}/elsewhere`);
    await temp.say();
    await temp.tool({ 'a.txt': 'TOP\n', 'sub/a.txt': 'BELOW\n' });
    return temp;
  }
  const SHOWN = { 'a.txt': 'top\n', 'sub/a.txt': 'below\n' };

  test.each([
    ['a.txt', 'sub', 'sub/a.txt', true],
    ['./a.txt', 'sub', 'sub/a.txt', true],
    ['../a.txt', 'sub', 'a.txt', true],
    ['../workspace/a.txt', '.', 'a.txt', true],
    ['../../workspace/sub/a.txt', 'sub', 'sub/a.txt', true],
    ['alias/a.txt', '.', 'sub/a.txt', false],
    ['sub/../a.txt', '.', 'a.txt', false],
    ['a.txt', '../outside/elsewhere/sub', 'sub/a.txt', true],
    ['a.txt', '../outside', 'a.txt', false],
  ] as const)('given %j from %j, then it means %j', async (typed, from, meant, isSaid) => {
    const temp = await twoOfOneName();
    const cwd = temp.at(from);

    const shown = await run(temp, `show s 1 ${typed}`, { cwd });
    const diff = await run(temp, `diff s 1 ${typed} -q`, { cwd });
    const plan = await run(temp, `restore s --to 1 ${typed} --dry-run -q`, { cwd });

    expect([shown.code, shown.out]).toEqual([0, SHOWN[meant]]);
    expect([diff.out, plan.out]).toEqual([`${meant}\n`, `${meant}\n`]);
    expect(shown.err).toBe(isSaid ? `${typed} is ${meant} in ${temp.workspace}.\n` : '');
  });

  test('given an absolute one that lands inside by another way, then it is the file there', async () => {
    const temp = await twoOfOneName();

    const { out } = await run(temp, `show s 1 ${temp.outside}/elsewhere/sub/a.txt`, { cwd: '/' });

    expect(out).toBe('below\n');
  });

  test('given one to capture, then what stands there is recorded by its name in the workspace', async () => {
    const temp = await twoOfOneName();

    const below = await run(temp, 'capture s a.txt -q', { cwd: temp.at('sub') });
    const back = await run(temp, 'capture s ../workspace/a.txt -q');
    const other = await run(temp, `capture s ${temp.outside}/elsewhere/a.txt -q`);

    expect([below.err, back.err, other.err]).toEqual(['', '', '']);
    const captured = (await temp.store.listCheckpoints('s')).slice(1).map(({ files }) => files);
    expect(captured.map(([file]) => [file?.path, file?.state.kind])).toEqual([
      ['sub/a.txt', 'stored'],
      ['a.txt', 'stored'],
      ['a.txt', 'stored'],
    ]);
  });

  test('given one that lands outside, then no file is meant', async () => {
    const temp = await twoOfOneName();

    const { code, out } = await run(temp, 'show s 1 ../outside/a.txt --json');

    expect([code, errorOf(out).code]).toEqual([3, 'FILE_NOT_FOUND']);
  });

  test('given one that is a file only from the folder of the session, then that is said', async () => {
    const temp = await twoOfOneName();

    const { code, out } = await run(temp, 'restore s --to 1 sub/a.txt --json', { cwd: temp.at('sub') });

    expect([code, errorOf(out).message]).toEqual([3, 'No checkpoint of this session names "sub/sub/a.txt"']);
    expect(errorOf(out).hint).toContain('from there');
  });
});

describe('finding 36: files of a session whose metadata cannot be read', () => {
  test.each([
    ['are damaged', (path: string) => writeFileSync(path, '{')],
    ['are gone', (path: string) => rmSync(path)],
  ])('given ones that %s, then files are shown and brought back with --workspace', async (_, spoil) => {
    const temp = await workedSession();
    const metadata = join(temp.root, 's', 'metadata.json');
    spoil(metadata);
    const there = `--workspace ${temp.workspace}`;
    const before = existsSync(metadata) ? readFileSync(metadata, 'utf8') : undefined;

    const unnamed = await run(temp, 'restore s --to 1 a.txt --json');
    const shown = await run(temp, `show s 1 a.txt ${there}`);
    const plan = await run(temp, `restore s --to 1 a.txt ${there} --dry-run -q`);
    const done = await run(temp, `restore s --to 1 a.txt ${there} --json`);
    const after = await run(temp, `diff s 1 a.txt ${there} -q`);

    expect(unnamed.code).not.toBe(0);
    expect([shown.code, shown.out, plan.out]).toEqual([0, 'one\n', 'a.txt\n']);
    expect([done.code, after.out]).toEqual([0, '']);
    expect((await documentOf('checkpoint restore', done.out)).report).toMatchObject({ filesRestored: 1 });
    expect(existsSync(metadata) ? readFileSync(metadata, 'utf8') : undefined).toBe(before);
    expect(readFileSync(temp.at('a.txt'), 'utf8')).toBe('one\n');
  });
});
