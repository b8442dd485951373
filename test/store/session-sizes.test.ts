import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { measureSession } from '../../src/store/session-sizes.js';
import { aSession } from '../support/session-builder.js';
import { tempStore } from '../support/temp-store.js';

describe('measureSession', () => {
  test('given a log and blobs, then it gives the bytes of each', () => {
    const { deps, path, bytes } = tempStore(aSession('s').withMessages(2));
    mkdirSync(path('checkpoints', 'blobs'), { recursive: true });
    writeFileSync(path('checkpoints', 'blobs', 'a'.repeat(64)), 'four');
    writeFileSync(path('checkpoints', 'blobs', 'b'.repeat(64)), 'seven!!');

    expect(measureSession(deps, 's')).toEqual({ logBytes: bytes('events.jsonl').length, blobBytes: 11 });
  });

  test('given a link in place of the log, and no blobs, then both count as nothing', () => {
    const { deps, path } = tempStore(aSession('s').withMessages(2));
    rmSync(path('events.jsonl'));
    symlinkSync('/etc/passwd', path('events.jsonl'));

    expect(measureSession(deps, 's')).toEqual({ logBytes: 0, blobBytes: 0 });
  });
});
