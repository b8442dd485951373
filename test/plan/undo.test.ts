import { describe, expect, test } from 'vitest';
import type { FileState } from '../../src/index.js';
import { type EventIdentity, identityOf } from '../../src/model/event-identity.js';
import type { RewindIntent } from '../../src/model/rewind-record.js';
import { filesToUndo, type KeptWork } from '../../src/plan/undo.js';
import { aLog, refs } from '../support/stored-log.js';

const absent: FileState = { kind: 'absent', newDirs: 0 };
const text = (name: string): FileState => ({ kind: 'stored', blob: name, hash: undefined, mode: 0, bytes: 0 });

function record(
  files: RewindIntent['files'],
  checkpoints: Readonly<Record<number, readonly object[] | string>> = {},
): KeptWork {
  const log = aLog(
    's',
    Object.entries(checkpoints).map(([sequence, entries]) => ({
      sequence: Number(sequence),
      type: 'session_checkpoint',
      payload: typeof entries === 'string' ? entries : { tool: 't', files: entries },
    })),
  );
  const intent = files.length === 0 ? undefined : { id: 'i', sessionId: 's', target: 1, workspace: '/w', files };
  const identified = log.map((event) => ({ ...event, identity: identityOf(event, bytesAsHash) }));
  return { id: 'i', events: refs(log), checkpoints: identified, intent };
}

const bytesAsHash = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const nothingBefore = (): boolean => false;

describe('what an undo brings back', () => {
  test('given one rewind, then what its intent says', () => {
    const files = filesToUndo(
      [record([{ path: 'a', before: text('v1'), to: text('v0') }], { 3: [{ path: 'a', absent: true }] })],
      nothingBefore,
    );

    expect(files).toEqual([{ path: 'a', before: text('v1'), left: [text('v0')], folderModes: undefined }]);
  });

  test('given a later rewind of the same file, then the state before the first, and either may be found', () => {
    const files = filesToUndo(
      [
        record([{ path: 'a', before: text('v2'), to: text('v1') }]),
        record([{ path: 'a', before: text('v1'), to: absent }]),
      ],
      nothingBefore,
    );

    expect(files).toMatchObject([{ before: text('v2'), left: [text('v1'), absent] }]);
  });

  test('given a file that the session made in between, then it was not there', () => {
    const later = record([{ path: 'b', before: text('made'), to: absent }], { 9: [{ path: 'b', absent: true }] });

    expect(filesToUndo([record([]), later], nothingBefore)).toMatchObject([{ path: 'b', before: absent }]);
  });

  test('given a checkpoint from before that an undo brought back, then it did not happen in between', () => {
    const later = record([{ path: 'b', before: text('v1'), to: absent }], { 2: [{ path: 'b', absent: true }] });
    const broughtBack = (event: EventIdentity): boolean => event === later.checkpoints[0]?.identity;

    expect(filesToUndo([record([]), later], broughtBack)).toMatchObject([{ before: text('v1') }]);
  });

  test('given a checkpoint that cannot be decoded, or one that holds nothing, then it tells nothing', () => {
    const later = record([{ path: 'b', before: text('v1'), to: absent }], {
      8: 'broken',
      9: [{ path: 'b', skipped: true }],
    });

    expect(filesToUndo([record([]), later], nothingBefore)).toMatchObject([{ before: text('v1') }]);
  });
});
