import { describe, expect, test } from 'vitest';
import { PayloadDamagedError } from '../../src/errors.js';
import { decodeCheckpoint, encodeCheckpoint } from '../../src/model/checkpoint-codec.js';
import type { RawJson } from '../../src/model/json.js';

describe('a checkpoint', () => {
  const hash = 'a'.repeat(64);
  const decode = (payload: string) =>
    decodeCheckpoint({ id: 's:1', payload: Buffer.from(payload) as Uint8Array as RawJson });
  const stateOf = (file: string): unknown => decode(`{"files":[{"path":"p",${file}}]}`).files[0]?.state;

  test.each([
    [`"blob":"${hash}","bytes":4,"mode":420`, { kind: 'stored', blob: hash, hash, mode: 0o644, bytes: 4 }],
    [`"blob":"${hash}"`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    ['"blob":"../../x","mode":420', { kind: 'stored', blob: '../../x', hash: undefined, mode: 0o644, bytes: 0 }],
    [`"blob":"${hash}","mode":2541`, { kind: 'stored', blob: hash, hash, mode: 0o755, bytes: 0 }],
    [`"blob":"${hash}","mode":4096`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    [`"blob":"${hash}","mode":-1`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    [`"blob":"${hash}","mode":1.5`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    [`"blob":"${hash}","mode":4294967295.5`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    [`"blob":"${hash}","mode":"0644"`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    [`"blob":"${hash}","mode":33188`, { kind: 'stored', blob: hash, hash, mode: 0o644, bytes: 0 }],
    [`"blob":"${hash}","mode":null,"bytes":null`, { kind: 'stored', blob: hash, hash, mode: 0, bytes: 0 }],
    ['"absent":true', { kind: 'absent', newDirs: 0 }],
    ['"absent":true,"newDirs":2', { kind: 'absent', newDirs: 2 }],
    ['"absent":true,"newDirs":-2', { kind: 'absent', newDirs: 0 }],
    ['"skipped":true,"bytes":9', { kind: 'skipped', bytes: 9 }],
    ['"skipped":true,"link":"../x"', { kind: 'link', target: '../x' }],
    [`"skipped":true,"absent":true,"blob":"${hash}"`, { kind: 'skipped', bytes: 0 }],
    [`"absent":true,"blob":"${hash}"`, { kind: 'absent', newDirs: 0 }],
    ['"bytes":1', { kind: 'skipped', bytes: 1 }],
    ['"absent":null,"skipped":null,"blob":null', { kind: 'skipped', bytes: 0 }],
  ])('given a file with %s, then its state is %j', (file, state) => {
    expect(stateOf(file)).toEqual(state);
  });

  test('given what we decode, then it is encoded as it was', () => {
    const payload = {
      tool: 't',
      files: [
        { path: 'a', blob: hash, bytes: 4, mode: 420 },
        { path: 'b', absent: true, newDirs: 1 },
        { path: 'c', skipped: true, link: 'x' },
        { path: 'd', skipped: true, bytes: 7 },
        { path: 'e', skipped: true },
        { path: 'f', absent: true },
        { path: 'g', blob: hash },
        { path: 'h/i', blob: hash, bytes: 4, mode: 420, dirModes: [448] },
        { path: 'h/j/k', skipped: true, link: 'x', dirModes: [448, 493] },
      ],
    };

    const { tool, files } = decode(JSON.stringify(payload));

    expect(JSON.stringify(encodeCheckpoint(tool, files))).toBe(JSON.stringify(payload));
  });

  test.each(['420.0', '4.2e2'])('finding 30: given the mode %s, then its value counts', (mode) => {
    expect(stateOf(`"blob":"${hash}","mode":${mode}`)).toMatchObject({ mode: 0o644 });
  });

  test.each(['1e400', '4294967296', 'true', '-420', '"420"', '{}'])(
    'finding 30: given the mode %s, then it is unknown and the rest is read',
    (mode) => {
      expect(stateOf(`"blob":"${hash}","mode":${mode},"bytes":4`)).toMatchObject({ mode: 0, bytes: 4 });
    },
  );

  test.each(['4.0', '4e0', '1e400', '9223372036854775808', '"4"', 'true'])(
    'finding 30: given %s bytes, a number that is not whole as written, then it cannot be decoded',
    (count) => {
      expect(() => stateOf(`"blob":"${hash}","bytes":${count}`)).toThrow(PayloadDamagedError);
    },
  );

  test.each([
    ['[448]', [0o700]],
    ['[448,2541]', [0o700, 0o755]],
    ['[2048]', undefined],
    ['[0]', undefined],
    ['[-1]', undefined],
    ['[1.5]', undefined],
    ['["700"]', undefined],
    ['[]', undefined],
    ['448', undefined],
    ['null', undefined],
  ])(
    '44. given %s as the modes of its folders, then no special bit is among them, or none is taken',
    (modes, taken) => {
      expect(decode(`{"files":[{"path":"p","blob":"${hash}","dirModes":${modes}}]}`).files[0]?.folderModes).toEqual(
        taken,
      );
    },
  );

  test.each([
    ...['[]', '"x"', '1', '{"files":{}}', '{"files":[1]}', '{"tool":1}'],
    ...[
      '{"files":[{"path":1}]}',
      '{"files":[{"blob":1}]}',
      '{"files":[{"absent":1}]}',
      '{"files":[{"skipped":true,"absent":1}]}',
      '{"files":[{"skipped":"yes"}]}',
      '{"files":[{"bytes":"4"}]}',
    ],
  ])('given the payload %s, then it cannot be decoded', (payload) => {
    expect(() => decode(payload)).toThrow(PayloadDamagedError);
  });

  test.each(['{}', 'null', '{"files":null}'])('given %s, then there are no files', (payload) => {
    expect(decode(payload)).toEqual({ tool: '', files: [] });
  });

  test('given no payload, then it cannot be decoded', () => {
    expect(() => decodeCheckpoint({ id: 's:1', payload: undefined })).toThrow(PayloadDamagedError);
  });

  test('given null for a file, then it is one without path and content', () => {
    expect(decode('{"files":[null]}').files).toEqual([{ path: '', state: { kind: 'skipped', bytes: 0 } }]);
  });
});
