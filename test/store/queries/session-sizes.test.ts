import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { measureSession } from '../../../src/store/queries/session-sizes.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('measureSession', () => {
  test('given a log and blobs, then it gives the bytes of each', () => {
    const { deps, path, bytes } = tempStore(aSession('s').withMessages(2));
    mkdirSync(path('checkpoints', 'blobs'), { recursive: true });
    writeFileSync(path('checkpoints', 'blobs', 'a'.repeat(64)), 'four');
    writeFileSync(path('checkpoints', 'blobs', 'b'.repeat(64)), 'seven!!');

    expect(measureSession(deps, 's')).toEqual({ logBytes: bytes('events.jsonl').length, blobBytes: 11, keptBytes: 0 });
  });

  test('finding 38, 48: given kept logs and blobs, then a second name of a blob counts once, and all else', () => {
    const { deps, path } = tempStore(aSession('s').withMessages(2));
    for (const folder of ['checkpoints/blobs', '.zs/kept/one', '.zs/blobs', '.zs/torn'])
      mkdirSync(path(folder), { recursive: true });
    writeFileSync(path('checkpoints/blobs', 'a'.repeat(64)), 'four');
    linkSync(path('checkpoints/blobs', 'a'.repeat(64)), path('.zs/blobs', 'a'.repeat(64)));
    writeFileSync(path('.zs/blobs', 'b'.repeat(64)), 'seven!!');
    writeFileSync(path('.zs/kept/one/events.jsonl'), 'eleven bytes'.slice(1));
    writeFileSync(path('.zs/torn/one'), '{');
    symlinkSync('/', path('.zs/elsewhere'));

    expect(measureSession(deps, 's')).toMatchObject({ blobBytes: 4, keptBytes: 7 + 11 + 1 });
  });

  test('given a link in place of the log, and no blobs, then both count as nothing', () => {
    const { deps, path } = tempStore(aSession('s').withMessages(2));
    rmSync(path('events.jsonl'));
    symlinkSync('/etc/passwd', path('events.jsonl'));

    expect(measureSession(deps, 's')).toEqual({ logBytes: 0, blobBytes: 0, keptBytes: 0 });
  });
});
