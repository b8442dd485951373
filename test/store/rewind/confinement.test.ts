import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseRawJson, type StoredEvent } from '../../../src/index.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { appendIntent, INTENT_ID, storedContent } from '../../support/unfinished-rewind.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

/** A session with a checkpoint, not written by us, of these entries. */
async function aCheckpointOf(files: readonly object[]): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  writeFileSync(join(temp.outside, 'victim'), 'untouched', { mode: 0o640 });
  await temp.say();
  temp.put({ source: 'hostile' });
  await temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['source']);
  await append(temp, { tool: 't', files });
  return temp;
}

async function append(temp: TempWorkspace, payload: object): Promise<void> {
  await temp.store.appendEvent('s', { type: 'session_checkpoint', payload });
}

async function blobName(temp: TempWorkspace): Promise<string> {
  return readdirSync(temp.path('checkpoints/blobs'))[0] ?? '';
}

interface Entry {
  readonly blob?: string;
  readonly mode?: number;
}

function filesOf(event: StoredEvent | null): readonly Entry[] {
  const payload = event?.payload === undefined ? {} : (parseRawJson(event.payload) as { files?: readonly Entry[] });
  return payload.files ?? [];
}

const blobOf = (event: StoredEvent | null, at: number): string => filesOf(event)[at]?.blob ?? '';

/** What is outside of workspace and store: the folder for that, and what should not be there at all. */
const beside = (temp: TempWorkspace): readonly unknown[] => [temp.outsideFiles(), readdirSync(dirname(temp.workspace))];

describe('a path that leads out', () => {
  test.each([
    '../outside/victim',
    '../outside/new',
    '../new',
    '/victim',
    '/etc/hostname',
    'a/../../outside/victim',
    'a/../../new',
    'out/victim',
    'out/new',
    'out/new/x',
    'dangling/x',
    'loop/x',
    'source/below',
    'x\0y',
  ])(
    '37. given %j, then a rewind is refused, a bare restore skips it, and nothing outside is touched',
    async (path) => {
      for (const state of [{ absent: true }, { blob: 'placeholder', mode: 0o777 }]) {
        const temp = await aCheckpointOf([]);
        const blob = await blobName(temp);
        await append(temp, {
          tool: 't',
          files: [{ path, ...state, ...('blob' in state ? { blob } : {}) }],
        });
        temp.put({
          out: { link: temp.outside },

          dangling: { link: 'nowhere' },
          loop: { link: 'loop' },
        });
        const before = [temp.everything(), beside(temp)];

        for (const force of [false, true]) {
          await expect(temp.store.rewind('s', { target: 1, force })).rejects.toMatchObject({ code: 'INCOMPLETE' });
        }
        expect([temp.everything(), beside(temp)]).toEqual(before);
        expect((await temp.store.restoreToSequence('s', temp.workspace, 1)).skipped).toEqual([path]);
        await temp.store.rewind('s', { target: 1, force: true, allowPartial: true });
        expect(beside(temp)).toEqual(before[1]);
      }
    },
  );

  test('37. given an absolute path to the outside, then it is not taken as one below the workspace either', async () => {
    const temp = await aCheckpointOf([]);
    await append(temp, { tool: 't', files: [{ path: join(temp.outside, 'victim'), absent: true }] });
    const before = beside(temp);

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'INCOMPLETE' });

    expect(beside(temp)).toEqual(before);
  });
});

describe('a blob name that is none', () => {
  test.each([
    '../../x',
    '../../../../outside/victim',
    'a'.repeat(63),
    'a'.repeat(65),
    'A'.repeat(64),
    '/etc/hostname',
    `${'a'.repeat(64)}/..`,
    `${'a'.repeat(63)}\n`,
    'pipe',
  ])('43. given %j, then it is refused before any file is changed, and what it names is never opened', async (blob) => {
    const temp = await aCheckpointOf([]);
    const good = await blobName(temp);
    // With a reader that opens it everything would stand still here.
    for (const pipe of [temp.path('x'), temp.path('checkpoints/blobs/pipe')]) execFileSync('mkfifo', [pipe]);
    temp.put({ first: 'now', second: 'now' });
    await append(temp, {
      tool: 't',
      files: [
        { path: 'first', blob: good, bytes: 7, mode: 0o644 },
        { path: 'second', blob, bytes: 7, mode: 0o644 },
      ],
    });
    const before = [temp.files(), temp.log(), temp.outsideFiles()];

    await expect(temp.store.rewind('s', { target: 1, force: true })).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining(JSON.stringify(blob)),
    });

    expect([temp.files(), temp.log(), temp.outsideFiles()]).toEqual(before);
    const second = (await temp.store.filesAt('s', 1)).find(({ path }) => path === 'second');
    expect(await temp.store.readFileAt('s', second as never)).toMatchObject({ kind: 'unavailable' });
    await temp.store.fork('s', { sessionId: 'f' });
    expect(readdirSync(join(temp.root, 'f', 'checkpoints', 'blobs'))).toEqual([good]);
  });

  test.each<[string, (path: string) => void, RegExp]>([
    ['wrong content', (path) => writeFileSync(path, 'HOSTILE'), /was altered/],
    ['no content', (path) => writeFileSync(path, ''), /was altered/],
    ['nothing there', (path) => rmSync(path), /is missing/],
  ])('43. given a good name and %s, then it is refused before any file is changed', async (_, change, reason) => {
    const temp = await aCheckpointOf([]);
    const good = await blobName(temp);
    temp.put({ first: 'now', other: 'other' });
    const event = await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['first', 'other']);
    temp.put({ first: 'later', other: 'later' });
    change(temp.path('checkpoints/blobs', good === blobOf(event, 1) ? blobOf(event, 0) : blobOf(event, 1)));
    const before = temp.everything();

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringMatching(reason),
    });

    expect(temp.everything()).toEqual(before);
  });
});

describe('a recorded mode', () => {
  test.each([
    [0o4755, 0o755],
    [0o1777, 0o777],
    [0o2640, 0o640],
    [0o7777, 0o777],
    [0o600, 0o600],
    [-1, 0o644],
    [1e9, 0o644],
    [0.5, 0o644],
    ['755', 0o644],
    [null, 0o644],
    [{}, 0o644],
  ])('44. given %j, then the file has %s and no special bit', async (mode, expected) => {
    const temp = await aCheckpointOf([]);
    await append(temp, {
      tool: 't',
      files: [{ path: 'a', blob: await blobName(temp), bytes: 7, mode }],
    });

    await temp.store.rewind('s', { target: 1 });

    expect(lstatSync(temp.at('a')).mode & 0o7777).toBe(expected);
  });

  test('44. given a file that has such bits itself, then they are in no checkpoint and come back by no undo', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a0' });
    temp.put({ a: { mode: 0o6755 } });
    await temp.say();
    const event = await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['a']);
    temp.put({ a: 'a1' });
    temp.put({ a: { mode: 0o6711 } });

    await temp.store.rewind('s', { target: 1 });
    const modes = [filesOf(event)[0]?.mode, lstatSync(temp.at('a')).mode & 0o7777];
    await temp.store.undoRewind('s');

    expect([...modes, lstatSync(temp.at('a')).mode & 0o7777]).toEqual([0o755, 0o755, 0o711]);
  });
});

describe('a file with another name outside of the workspace', () => {
  test('45. given a rewind that changes it, and its undo, then the other name keeps its content and mode', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a0', b: 'b0' });
    await temp.say();
    await temp.tool({ a: 'a1', b: 'b1', made: 'm1' });
    const others = ['a', 'b', 'made'].map((name) => join(temp.outside, name));
    for (const other of others) linkSync(temp.at(other.slice(temp.outside.length + 1)), other);
    const before = temp.outsideFiles();

    await temp.store.rewind('s', { target: 1 });
    const rewound = temp.files();
    await temp.store.undoRewind('s');

    expect(rewound.join()).not.toContain('"made"');
    expect(readFileSync(temp.at('a'), 'utf8')).toBe('a1');
    expect(temp.outsideFiles()).toEqual(before);
  });

  test('45. given that it is captured, then the store warns that a restore parts the names', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a0' });
    linkSync(temp.at('a'), join(temp.outside, 'a'));

    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['a']);

    expect(temp.warnings.map(({ code }) => code)).toEqual(['HARD_LINKED']);
  });
});

describe('a path that was absent and is a link now', () => {
  test.each(['outside', 'workspace'])(
    '40. given one to a file of the user in the %s, then that file survives every way back',
    async (place) => {
      for (const act of [
        (temp: TempWorkspace) => temp.store.rewind('s', { target: 1 }),
        (temp: TempWorkspace) => temp.store.rewind('s', { target: 1, force: true }),
        (temp: TempWorkspace) => temp.store.restoreToSequence('s', temp.workspace, 1),
        (temp: TempWorkspace) => temp.store.applyRewind('s', temp.workspace, 1),
      ]) {
        const temp = await tempWorkspace();
        const file = place === 'outside' ? join(temp.outside, 'precious') : temp.at('precious');
        writeFileSync(file, 'precious', { mode: 0o640 });
        await temp.say();
        await temp.tool({ absent: { link: file } });

        await act(temp);

        expect([readFileSync(file, 'utf8'), lstatSync(file).mode & 0o7777]).toEqual(['precious', 0o640]);
        expect(lstatSync(temp.at('absent'), { throwIfNoEntry: false })).toBeUndefined();
      }
    },
  );

  test('40. given one that the user made later, then it stays as well, unless forced', async () => {
    const temp = await tempWorkspace();
    temp.put({ precious: 'precious' });
    await temp.say();
    await temp.tool({}, { paths: ['absent'] });
    temp.clock.pass(60_000);
    temp.put({ absent: { link: 'precious' } });
    const before = temp.everything();

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(temp.everything()).toEqual(before);
    await temp.store.rewind('s', { target: 1, force: true });

    expect(readFileSync(temp.at('precious'), 'utf8')).toBe('precious');
  });
});

describe('names that were planted', () => {
  test('39. FAULTS 11: given 300 links under each temporary name that can be guessed, then nothing outside changes', async () => {
    const temp = await tempWorkspace();
    const victim = join(temp.outside, 'victim');
    writeFileSync(victim, 'untouched', { mode: 0o640 });
    const before = temp.outsideFiles();
    temp.put({ 'a.txt': 'before' });
    await temp.say();
    await temp.tool({ 'a.txt': 'after' });
    for (let n = 0; n < 300; n += 1) {
      for (const name of [`a.txt.zero-restore-tmp-${n}`, `.zs-tmp-${n}`, `.a.txt.tmp-${n}`, `a.txt.${n}`])
        symlinkSync(victim, temp.at(name));
      for (const name of ['metadata.json', 'events.jsonl', '.zs-tmp', 'checkpoints/blobs/x'])
        symlinkSync(victim, temp.path(`${name}.tmp-${n}`));
    }

    await temp.store.rewind('s', { target: 1 });
    await temp.store.undoRewind('s');

    expect([temp.outsideFiles(), readFileSync(temp.at('a.txt'), 'utf8')]).toEqual([before, 'after']);
    expect(lstatSync(temp.at('a.txt')).isFile()).toBe(true);
  });

  test('39. given links under the very names that come next, then nothing outside changes, whatever becomes of it', async () => {
    const idAt = (n: number): string => `01ARZ3NDEKTSV4RRFFQ6${String(n).padStart(6, '0')}`;
    let next = 0;
    const newId = (): string => {
      next += 1;
      return idAt(next);
    };
    for (let from = 0; from < 6; from += 1) {
      next = 0;
      const temp = await tempWorkspace({ newId });
      const victim = join(temp.outside, 'victim');
      writeFileSync(victim, 'untouched', { mode: 0o640 });
      temp.put({ 'a.txt': 'before' });
      await temp.say();
      await temp.tool({ 'a.txt': 'after', made: 'made' });
      const before = temp.outsideFiles();
      // Each round leaves more of the names free, so that what comes later in the rewind meets one, too.
      for (let n = next + from; n < next + 40; n += 1) {
        for (const place of ['', '-0', '-1']) symlinkSync(victim, temp.at(`.zs-tmp-${idAt(n)}${place}`));
        symlinkSync(victim, temp.path(`.zs-tmp-${idAt(n)}`));
      }

      await temp.store
        .rewind('s', { target: 1 })
        .catch((error: { code?: string }) => expect(error.code).toBeTypeOf('string'));
      await temp.say().catch(() => {});

      expect([from, temp.outsideFiles()]).toEqual([from, before]);
    }
  });

  test('39. given an intent of a log from elsewhere, whose names are known, then its planted links are not followed', async () => {
    const temp = await tempWorkspace();
    const victim = join(temp.outside, 'victim');
    writeFileSync(victim, 'untouched', { mode: 0o640 });
    await temp.say();
    const blob = await storedContent(temp, 'before');
    temp.put({ a: 'after' });
    for (const place of [0, 1]) symlinkSync(victim, temp.at(`.zs-tmp-${INTENT_ID}-${place}`));
    const after = createHash('sha256').update('after').digest('hex');
    const entry = { path: 'a', blob, bytes: 6, mode: 0o644, to: { blob: after, bytes: 5, mode: 0o644 } };
    appendIntent(temp, { workspace: temp.workspace, files: [entry] });
    const before = temp.outsideFiles();

    await temp.store.updateTitle('s', 'next');

    expect([temp.outsideFiles(), readFileSync(temp.at('a'), 'utf8')]).toEqual([before, 'before']);
  });
});

const RESTORES = Number(process.env.ZERO_SESSIONS_SWAP_RESTORES ?? 150);

/** The number of the system call renameat2, which node does not have. */
const EXCHANGE: Readonly<Record<string, string>> = { x64: '316', arm64: '276' };

/**
 * Puts a link in the place of a folder and the folder back, in one step each, so that one of the two is always there.
 * It stays in the real folder: what it writes there, so that a restore has something to do, is never written outside.
 */
const SWAP = `
  my ($folder, $link, $call) = @ARGV;
  chdir $folder or die;
  $| = 1;
  print 'going';
  for (my $n = 0; ; $n++) {
    syscall($call + 0, -100, $folder, -100, $link, 2) == 0 or die "cannot exchange: $!";
    if (rand() < 0.2) { select(undef, undef, undef, rand(0.008)); }
    else { for (my $wait = int(rand(3000)); $wait > 0; $wait--) { } }
    next if $n % 8;
    for my $name ('a', 'gone') { open(my $file, '>', $name) or next; print $file "changed $n"; }
  }`;

describe.runIf(platform() === 'linux')('a folder that is swapped for a link all the time', () => {
  test(`38. given ${RESTORES} restores, then nothing outside changes`, async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    mkdirSync(join(temp.outside, 'd'));
    writeFileSync(join(temp.outside, 'd', 'a'), 'untouched');
    writeFileSync(join(temp.outside, 'd', 'gone'), 'untouched');
    temp.put({ 'd/a': 'before', 'd/deep/b': 'b' });
    await temp.say();
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['d/a', 'd/deep/b', 'd/gone', 'd/new/x']);
    const before = temp.outsideFiles();
    symlinkSync(join(temp.outside, 'd'), join(dirname(temp.workspace), 'link'));
    const swapper = spawn(
      'perl',
      ['-e', SWAP, temp.at('d'), join(dirname(temp.workspace), 'link'), EXCHANGE[arch()] ?? ''],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const gone = once(swapper, 'exit');
    onTestFinished(() => void swapper.kill('SIGKILL'));
    await once(swapper.stdout, 'data');

    const outcomes = new Map<string, number>();
    for (let n = 0; n < RESTORES; n += 1) {
      const outcome = await temp.store.restoreToSequence('s', temp.workspace, 1).then(
        ({ skipped = [] }) => (skipped.length > 0 ? 'skipped' : 'restored'),
        (error: { code?: string }) => error.code ?? 'bug',
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'INTERRUPTED_REWIND') await temp.store.abortRewind('s').catch(() => {});
    }
    swapper.kill('SIGKILL');
    await gone;
    if (RESTORES >= 5000) process.stdout.write(`${JSON.stringify([...outcomes])}\n`);

    expect(temp.outsideFiles().filter((line) => !line.includes('link'))).toEqual(before);
    expect(outcomes.get('bug')).toBeUndefined();
    // Both worlds were met: the folder, and the link in its place.
    expect([(outcomes.get('restored') ?? 0) > 0, outcomes.size > 1]).toEqual([true, true]);
  }, 1_200_000);
});
