import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseRawJson } from '../../src/index.js';
import { SessionStore } from '../../src/store/session-store.js';
import { faultyFileSystem } from '../support/faulty-file-system.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

const content = (temp: TempWorkspace, path: string): string | undefined =>
  existsSync(temp.at(path)) ? readFileSync(temp.at(path), 'utf8') : undefined;

/** a.txt is `old a`, captured, then `new a`. */
async function edited(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ 'a.txt': 'old a' });
  await temp.say();
  await temp.tool({ 'a.txt': 'new a' });
  return temp;
}

async function refusedWith(temp: TempWorkspace, code: string): Promise<void> {
  const everything = (): unknown =>
    existsSync(temp.workspace) ? temp.everything() : [temp.log(), readdirSync(temp.path('checkpoints/blobs'))];
  const before = everything();
  await expect(temp.store.applyRewind('s', temp.workspace, 1)).rejects.toMatchObject({ code });
  expect(everything()).toEqual(before);
}

describe('FAULTS 2: a rewind that cannot restore', () => {
  test('a: the workspace was renamed: refused, nothing is lost', async () => {
    const temp = await edited();
    renameSync(temp.workspace, `${temp.workspace}-renamed`);

    await refusedWith(temp, 'WORKSPACE_REFUSED');
  });

  test('b: the file is a folder that is not empty: refused, its saved content stays', async () => {
    const temp = await edited();
    temp.put({ 'a.txt': null });
    temp.put({ 'a.txt/inside': 'x' });

    await refusedWith(temp, 'INCOMPLETE');
  });

  test('c: a blob is damaged, or all are gone: refused', async () => {
    const temp = await edited();
    const [blob] = readdirSync(temp.path('checkpoints/blobs'));
    writeFileSync(temp.path('checkpoints/blobs', blob ?? ''), 'damaged');
    await refusedWith(temp, 'INCOMPLETE');

    rmSync(temp.path('checkpoints/blobs', blob ?? ''));
    await refusedWith(temp, 'INCOMPLETE');
  });
});

describe('FAULTS 3: links', () => {
  test('a: captured while absent, then made a link: the link goes, what it leads to stays', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'real.txt': 'real' });
    await temp.say();
    await temp.tool({ link: { link: 'real.txt' } });

    expect(await temp.store.applyRewind('s', temp.workspace, 1)).toMatchObject({ filesDeleted: 1 });

    expect([lstatSync(temp.at('link'), { throwIfNoEntry: false }), content(temp, 'real.txt')]).toEqual([
      undefined,
      'real',
    ]);
  });

  test('b: a file replaced by a link: a conflict; forced, the link is replaced and its target stays', async () => {
    const temp = await edited();
    temp.put({ 'b.txt': 'content of b', 'a.txt': { link: 'b.txt' } });
    await refusedWith(temp, 'CONFLICT');

    await temp.store.rewind('s', { target: 1, force: true });

    expect([lstatSync(temp.at('a.txt')).isFile(), content(temp, 'a.txt'), content(temp, 'b.txt')]).toEqual([
      true,
      'old a',
      'content of b',
    ]);
  });

  test('c: a link replaced by a file: the link is back', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'real.txt': 'real', ln: { link: 'real.txt' } });
    await temp.say();
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['ln']);
    rmSync(temp.at('ln'));
    temp.put({ ln: 'a file' });

    await temp.store.applyRewind('s', temp.workspace, 1);

    expect([readlinkSync(temp.at('ln')), content(temp, 'real.txt')]).toEqual(['real.txt', 'real']);
  });

  test('a link of the user at a path that was absent when the tool failed: it stays, and so does what it leads to', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'real.txt': 'real' });
    await temp.say();
    await temp.tool({}, { paths: ['link'] });
    temp.clock.pass(60_000);
    temp.put({ link: { link: 'real.txt' } });

    await refusedWith(temp, 'CONFLICT');
    await temp.store.rewind('s', { target: 1, force: true });

    expect([lstatSync(temp.at('link'), { throwIfNoEntry: false }), content(temp, 'real.txt')]).toEqual([
      undefined,
      'real',
    ]);
  });

  test('a link replaced by a file that the user wrote later: a conflict; forced, the link is back, and the file with the undo', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'real.txt': 'real', ln: { link: 'real.txt' } });
    await temp.say();
    await temp.tool({}, { paths: ['ln'] });
    temp.clock.pass(60_000);
    rmSync(temp.at('ln'));
    temp.put({ ln: 'the user wrote this' });
    await refusedWith(temp, 'CONFLICT');

    await temp.store.rewind('s', { target: 1, force: true });
    expect([readlinkSync(temp.at('ln')), content(temp, 'real.txt')]).toEqual(['real.txt', 'real']);
    await temp.store.undoRewind('s');
    expect([lstatSync(temp.at('ln')).isFile(), content(temp, 'ln')]).toEqual([true, 'the user wrote this']);
  });

  test('a folder replaced by a link: what was in it comes back in a folder, and where the link leads stays', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'd/x': 'old x', 'e/x': 'x of e' });
    await temp.say();
    await temp.tool({ 'd/x': null });
    rmdirSync(temp.at('d'));
    await temp.tool({ d: { link: 'e' } });

    await temp.store.applyRewind('s', temp.workspace, 1);

    expect([lstatSync(temp.at('d')).isDirectory(), content(temp, 'd/x'), content(temp, 'e/x')]).toEqual([
      true,
      'old x',
      'x of e',
    ]);
  });

  test('a tool that wrote through a link: what it wrote to is brought back', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'real.txt': 'before', ln: { link: 'real.txt' } });
    await temp.say();
    await temp.tool({ ln: 'written through' }, { tells: true });
    expect(content(temp, 'real.txt')).toBe('written through');

    await temp.store.applyRewind('s', temp.workspace, 1);

    expect([readlinkSync(temp.at('ln')), content(temp, 'real.txt')]).toEqual(['real.txt', 'before']);
  });
});

describe('FAULTS 9: a rewind that fails halfway', () => {
  test('a: a later checkpoint is broken: nothing is restored', async () => {
    const temp = await edited();
    await temp.store.appendEvent('s', { type: 'session_checkpoint', payload: 'broken' });

    await refusedWith(temp, 'PAYLOAD_DAMAGED');
  });

  test('b: the metadata are broken: nothing is restored', async () => {
    const temp = await edited();
    writeFileSync(temp.path('metadata.json'), '{"sessionId":');

    await refusedWith(temp, 'METADATA_DAMAGED');
  });

  test('c: the log cannot be replaced: the files are as they were', async () => {
    const temp = await edited();
    const before = temp.everything();
    const fs = faultyFileSystem({ on: 'rename', nth: 1, as: 'ENOSPC', lasting: true });
    const noCommit = {
      ...temp.deps.fs,
      rename: (from: string, to: string) =>
        to.endsWith('events.jsonl') ? fs.rename(from, to) : temp.deps.fs.rename(from, to),
    };

    await expect(
      new SessionStore({ ...temp.deps, fs: noCommit }).applyRewind('s', temp.workspace, 1),
    ).rejects.toMatchObject({ code: 'SYSTEM' });

    expect(temp.everything()).toEqual(before);
  });

  test('d: the metadata cannot be written after the commit: a warning, and the next command puts them right', async () => {
    const temp = await edited();
    const noMetadata = {
      ...temp.deps.fs,
      rename: (from: string, to: string) => {
        if (to.endsWith('metadata.json')) throw Object.assign(new Error('ENOSPC: full'), { code: 'ENOSPC' });
        temp.deps.fs.rename(from, to);
      },
    };

    await new SessionStore({ ...temp.deps, fs: noMetadata }).applyRewind('s', temp.workspace, 1);
    await temp.say();

    expect(temp.sequences()).toEqual([1, 6, 7]);
    expect(await temp.store.get('s')).toMatchObject({ eventCount: 7, lastEventType: 'message' });
  });
});

describe('FAULTS 10: a named pipe', () => {
  test.each([
    ['where a file was', 'a.txt'],
    ['at a path that was absent', 'new.txt'],
  ])('%s: refused at once, it is not opened, and the session is not held', async (_, path) => {
    const temp = await edited();
    await temp.tool({}, { paths: ['new.txt'] });
    temp.put({ [path]: null });
    execFileSync('mkfifo', [temp.at(path)]);

    await refusedWith(temp, 'INCOMPLETE');
    const { files } = await temp.store.previewRewind('s', { target: 1 });
    await temp.store.rewind('s', { target: 1, allowPartial: true });

    expect(files.find((file) => file.path === path)).toMatchObject({ reason: 'is a special file now' });
    expect(lstatSync(temp.at(path)).isFIFO()).toBe(true);
  });
});

describe('FAULTS 12: ids and sequences', () => {
  test('none is used twice: a fork and a child point at what they came from', async () => {
    const temp = await tempWorkspace();
    for (let n = 0; n < 6; n += 1) await temp.say();
    await temp.store.fork('s', { sessionId: 'f' });
    await temp.store.applyRewind('s', temp.workspace, 3);
    await temp.say();

    expect(temp.sequences()).toEqual([1, 2, 3, 7, 8]);
    expect(await temp.store.get('f')).toMatchObject({ forkedFromEventId: 's:6' });
  });
});

describe('FAULTS 16: absolute paths', () => {
  test('inside it is the relative one; outside it is skipped; in a log it is not taken as relative', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'old a', 'etc/x': 'in the workspace' });
    await temp.say();
    const event = await temp.store.captureToolCheckpoint('s', temp.workspace, 't', [temp.at('a.txt'), '/etc/x']);
    expect(event?.payload && parseRawJson(event.payload)).toMatchObject({
      files: [
        { path: 'a.txt', bytes: 5 },
        { path: '/etc/x', skipped: true },
      ],
    });
    await temp.store.appendEvent('s', {
      type: 'session_checkpoint',
      payload: { tool: 't', files: [{ path: '/etc/x', absent: true }] },
    });
    temp.put({ 'a.txt': 'new a' });

    await temp.store.rewind('s', { target: 1, allowPartial: true });

    expect([content(temp, 'a.txt'), content(temp, 'etc/x')]).toEqual(['old a', 'in the workspace']);
  });
});

describe('FAULTS 17: what the user made or changed', () => {
  test('a file that the tool wrote and the user changed: kept, unless forced, and then it comes back', async () => {
    const temp = await edited();
    temp.clock.pass(60_000);
    temp.put({ 'a.txt': 'the user wrote this' });
    await refusedWith(temp, 'CONFLICT');

    await temp.store.rewind('s', { target: 1, force: true });
    expect(content(temp, 'a.txt')).toBe('old a');
    await temp.store.undoRewind('s');
    expect(content(temp, 'a.txt')).toBe('the user wrote this');
  });

  test('a folder of the user at a path that was absent: it stays, with all that is in it', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({}, { paths: ['n'] });
    temp.put({ 'n/mine': 'the user wrote this' });

    await refusedWith(temp, 'INCOMPLETE');
    await temp.store.rewind('s', { target: 1, allowPartial: true, force: true });

    expect(content(temp, 'n/mine')).toBe('the user wrote this');
  });

  test('a file at a path that was absent when the tool failed: kept, unless forced, and then it comes back', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({}, { paths: ['n.txt'] });
    temp.clock.pass(60_000);
    temp.put({ 'n.txt': 'the user wrote this' });
    await refusedWith(temp, 'CONFLICT');

    await temp.store.rewind('s', { target: 1, force: true });
    expect(content(temp, 'n.txt')).toBeUndefined();
    await temp.store.undoRewind('s');
    expect(content(temp, 'n.txt')).toBe('the user wrote this');
  });
});

describe('FAULTS 18: the workspace', () => {
  test('of another project, or a blank one: refused, its files stay', async () => {
    const temp = await edited();
    const other = join(dirname(temp.workspace), 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'a.txt'), 'another project');

    for (const root of [other, '', ' ', 'a', '.']) {
      await expect(temp.store.applyRewind('s', root, 1)).rejects.toMatchObject({
        code: expect.stringMatching(/^(WORKSPACE_REFUSED|INVALID_ARGUMENT)$/),
      });
    }

    expect(readFileSync(join(other, 'a.txt'), 'utf8')).toBe('another project');
  });
});

describe('FAULTS 19: goal and spec', () => {
  test('they follow the events that are left, and come back with the undo', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.store.createGoal('s', 'a goal');
    await temp.store.recordSpec('s', { specStatus: 'approved', specId: 'spec' });

    await temp.store.applyRewind('s', temp.workspace, 1);
    expect([(await temp.store.get('s'))?.goal, (await temp.store.get('s'))?.specStatus]).toEqual([
      undefined,
      undefined,
    ]);
    await temp.store.undoRewind('s');
    expect(await temp.store.get('s')).toMatchObject({ goal: { objective: 'a goal' }, specStatus: 'approved' });
  });
});

describe('FAULTS 20: a snapshot that is not logged yet', () => {
  test('its blob survives a rewind, so that it can be restored', async () => {
    const temp = await edited();
    const { payload } = await temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['a.txt']);
    await temp.store.applyRewind('s', temp.workspace, 1);
    await temp.store.appendEvent('s', { type: 'session_checkpoint', payload });

    await temp.store.applyRewind('s', temp.workspace, 6);

    expect(content(temp, 'a.txt')).toBe('new a');
  });
});

describe('FAULTS 36: what a restore brings back', () => {
  test('links, modes and folders', async () => {
    const temp = await tempWorkspace();
    temp.put({ run: '#!', dangling: { link: 'nowhere' } });
    temp.put({ run: { mode: 0o755 } });
    await temp.say();
    const before = temp.files();
    await temp.tool({ run: 'x', dangling: null, 'new/folder/file': 'f' });
    temp.put({ run: { mode: 0o600 } });

    await temp.store.applyRewind('s', temp.workspace, 1);

    expect(temp.files()).toEqual(before);
  });
});

describe('FAULTS 36: a hard link', () => {
  test('the other name keeps its content and stays as it is; capturing said that it would come apart', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a.txt': 'old a' });
    linkSync(temp.at('a.txt'), join(temp.outside, 'same file'));
    await temp.say();
    await temp.tool({ 'a.txt': 'new a' });
    expect(temp.warnings.map(({ code }) => code)).toEqual(['HARD_LINKED']);

    await temp.store.applyRewind('s', temp.workspace, 1);
    expect([content(temp, 'a.txt'), readFileSync(join(temp.outside, 'same file'), 'utf8')]).toEqual(['old a', 'new a']);
    await temp.store.undoRewind('s');

    expect([content(temp, 'a.txt'), readFileSync(join(temp.outside, 'same file'), 'utf8')]).toEqual(['new a', 'new a']);
    expect(lstatSync(join(temp.outside, 'same file')).nlink).toBe(1);
  });
});

describe('FAULTS 37: what the report claims', () => {
  test('restored, deleted and skipped are what is so afterwards', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: '1', b: '1', gone: '1' });
    await temp.say();
    await temp.tool({ a: '2', b: '2', c: '2', d: '2', gone: null });
    temp.put({ b: '1', d: null });
    execFileSync('mkfifo', [temp.at('pipe')]);
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['pipe']);

    const { report } = await temp.store.rewind('s', { target: 1, allowPartial: true });

    expect(report).toMatchObject({
      filesRestored: 3,
      filesDeleted: 2,
      skipped: [{ path: 'pipe', reason: 'was not captured' }],
    });
  });
});

test('FAULTS 40: a log that is a link is refused by a rewind, and what it leads to stays', async () => {
  const temp = await edited();
  const elsewhere = join(temp.outside, 'events.jsonl');
  renameSync(temp.path('events.jsonl'), elsewhere);
  symlinkSync(elsewhere, temp.path('events.jsonl'));
  const before = readFileSync(elsewhere, 'utf8');

  await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'PATH_REFUSED' });

  expect([readFileSync(elsewhere, 'utf8'), content(temp, 'a.txt')]).toEqual([before, 'new a']);
});
