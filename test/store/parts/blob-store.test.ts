import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/fs/file-system.js';
import type { BlobHash } from '../../../src/model/ids.js';
import { sessionPaths } from '../../../src/store/base/layout.js';
import { BlobStore, hashText } from '../../../src/store/parts/blob-store.js';
import { type Fault, faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

type Stored = ReturnType<BlobStore['storeFile']>;

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

function tempBlobs(
  fault?: Fault,
  given?: FileSystem,
): {
  blobs: BlobStore;
  temp: TempStore;
  store(content: string | Uint8Array, limit?: number): Stored;
} {
  const temp = tempStore(aSession(), { fileSystem: fault === undefined ? given : faultyFileSystem(fault) });
  const blobs = new BlobStore(temp.deps, sessionPaths(temp.path()));
  return {
    blobs,
    temp,
    store: (content, limit) => {
      const file = join(temp.root, 'source');
      writeFileSync(file, content);
      const fd = temp.deps.fs.openRead(file);
      try {
        return blobs.storeFile(fd, limit);
      } finally {
        temp.deps.fs.close(fd);
      }
    },
  };
}

describe('content that is stored', () => {
  test.each(['', 'hello', new Uint8Array([0, 255, 10]), 'x'.repeat(600_000)])(
    'given a file, then its name is its hash',
    (content) => {
      const { temp, store } = tempBlobs();

      const stored = store(content);

      const hash = hashOf(content);
      expect(stored).toEqual({ hash, bytes: content.length });
      expect(hashOf(readFileSync(temp.path('checkpoints/blobs', hash)))).toBe(hash);
      expect([temp.mode('checkpoints'), temp.mode('checkpoints/blobs'), temp.mode('checkpoints/blobs', hash)]).toEqual([
        ...[0o700, 0o700, 0o600],
      ]);
      expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs'))).toEqual([]);
    },
  );

  test('given a blob that is there and intact, then it is left alone', () => {
    const { temp, store } = tempBlobs();
    store('hello');
    const path = temp.path('checkpoints/blobs', hashOf('hello'));
    const before = statSync(path).ino;

    store('hello');

    expect(statSync(path).ino).toBe(before);
    expect(temp.tree().filter((name) => name.includes('.zs-tmp'))).toEqual([]);
  });

  test('43. given a blob that was altered, then it is replaced', () => {
    const { blobs, temp, store } = tempBlobs();
    const stored = store('hello');
    writeFileSync(temp.path('checkpoints/blobs', hashOf('hello')), 'HELLO');

    store('hello');

    expect(blobs.check((stored as { hash: BlobHash }).hash)).toMatchObject({ kind: 'intact', bytes: 5 });
  });

  test.each(['create', 'rename'] as const)(
    'FAULTS 31: given somebody who stores the same content at the %s, then both have it, and nothing is left',
    (moment) => {
      const other = { store: (): unknown => undefined };
      const fileSystem: FileSystem = { ...nodeFileSystem };
      let isBusy = false;
      const meanwhile = (): void => {
        if (isBusy) return;
        isBusy = true;
        other.store();
      };
      fileSystem.create = (path, mode) => {
        if (moment === 'create') meanwhile();
        return nodeFileSystem.create(path, mode);
      };
      fileSystem.rename = (from, to) => {
        if (moment === 'rename') meanwhile();
        nodeFileSystem.rename(from, to);
      };
      const { blobs, temp, store } = tempBlobs(undefined, fileSystem);
      other.store = () => store('hello');

      const stored = store('hello');

      expect(blobs.check((stored as { hash: BlobHash }).hash)).toMatchObject({ kind: 'intact', bytes: 5 });
      expect(readdirSync(temp.path('checkpoints/blobs'))).toHaveLength(1);
      expect(temp.tree().filter((name) => name.includes('.zs-tmp'))).toEqual([]);
    },
  );

  test.each([
    [5, 5],
    [4, undefined],
    [0, undefined],
  ])('given 5 bytes and a limit of %i, then %j of them are stored', (limit, bytes) => {
    const { temp, store } = tempBlobs();

    expect(store('hello', limit)?.bytes).toBe(bytes);

    expect(readdirSync(temp.path('checkpoints/blobs'))).toHaveLength(bytes === undefined ? 0 : 1);
    expect(temp.tree().filter((name) => name.includes('.zs-tmp'))).toEqual([]);
  });

  test.each(['EIO', 'ENOSPC', 'half'] as const)(
    'given %s at any call, then no blob is there that is not whole',
    (as) => {
      for (let nth = 1; ; nth += 1) {
        const { temp, store } = tempBlobs({ nth, as });
        let failed = false;
        try {
          store('hello');
        } catch {
          failed = true;
        }
        if (!failed) break;

        const names = temp.tree().filter((name) => name.startsWith('s/checkpoints/blobs/'));
        for (const name of names) expect(hashOf(readFileSync(join(temp.root, name)))).toBe(name.split('/').at(-1));
      }
    },
  );
});

describe('a blob that is looked at', () => {
  const hash = hashOf('hello') as BlobHash;

  test('given nothing, then it is missing', () => {
    expect(tempBlobs().blobs.check(hash)).toEqual({ kind: 'missing' });
  });

  test.each(['HELLO', '', 'hello\n'])('43. given %j instead of its content, then it is altered', (content) => {
    const { blobs, temp } = tempBlobs();
    blobs.prepare();
    writeFileSync(temp.path('checkpoints/blobs', hash), content);

    expect(blobs.check(hash)).toEqual({ kind: 'altered' });
  });

  test.each<[string, (path: string) => void, string]>([
    ['a link to the right content', (path) => symlinkSync('right', path), 'a symbolic link'],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'a special file'],
    ['a folder', (path) => mkdirSync(path), 'a folder'],
  ])('42. given %s, then it is refused at once', (_, put, found) => {
    const { blobs, temp } = tempBlobs();
    blobs.prepare();
    writeFileSync(temp.path('checkpoints/blobs/right'), 'hello');
    put(temp.path('checkpoints/blobs', hash));

    expect(blobs.check(hash)).toEqual({ kind: 'refused', found });
  });

  test('given folders that others may read, then preparing leaves them as they are', () => {
    const { blobs, temp } = tempBlobs();
    blobs.prepare();
    chmodSync(temp.path('checkpoints'), 0o755);

    blobs.prepare();

    expect(temp.mode('checkpoints')).toBe(0o755);
  });
});

describe('the hash of a text', () => {
  test('given letters beyond ASCII, then it is that of its UTF-8 bytes', () => {
    expect(hashText('é')).toBe(hashOf(Buffer.from([0xc3, 0xa9])));
  });
});
