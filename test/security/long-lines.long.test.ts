import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { aLine } from '../support/event-builder.js';
import { aSession } from '../support/session-builder.js';
import { type TempStore, tempStore } from '../support/temp-store.js';

// The built program, in a process of its own: its memory is measured.
const PROGRAM = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const TELL_PEAK = `process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS + ' KiB'))`;
const MEGABYTE = 1024 * 1024;
const LINE = 600 * MEGABYTE;
const EVENTS = 20_800;

/** A piece of a log: an event, or a hole, which takes no room on the disk and reads as NUL bytes. */
type Piece = { readonly sequence: number } | { readonly hole: number; readonly ends: boolean };

const LOGS: Readonly<Record<string, readonly Piece[]>> = {
  'in the middle': [{ sequence: 1 }, { sequence: 2 }, { hole: LINE, ends: true }, { sequence: 3 }],
  'at the end': [{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }, { hole: LINE, ends: true }],
  'at the end, without newline': [{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }, { hole: LINE, ends: false }],
};

/** A session `s` with this log, and another one. */
function aStore(pieces: readonly Piece[]): TempStore {
  const temp = tempStore([aSession().withMessages(3), aSession('other').withMessages(2)]);
  const fd = openSync(temp.path('events.jsonl'), 'w');
  let at = 0;
  for (const piece of pieces) {
    const text = 'hole' in piece ? (piece.ends ? '\n' : '\0') : `${aLine(piece)}\n`;
    at += 'hole' in piece ? piece.hole : 0;
    at += writeSync(fd, text, at);
  }
  closeSync(fd);
  return temp;
}

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The signal that ended it: SIGTERM when it took far too long. */
  readonly endedBy: NodeJS.Signals | null;
  /** MiB of memory at its highest. */
  readonly peak: number;
}

function run(temp: TempStore, argv: readonly string[], input = ''): Run {
  const node = ['--import', `data:text/javascript,${encodeURIComponent(TELL_PEAK)}`, PROGRAM, '--root', temp.root];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...node, ...argv], {
    input,
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 256 * MEGABYTE,
  });
  const [, kib = 'NaN'] = /peak (\d+) KiB/.exec(stderr) ?? [];
  return { code: status, out: stdout, err: stderr, endedBy: signal, peak: Number(kib) / 1024 };
}

const TOO_LONG = /is longer than 268435456 bytes/;

describe('a line of 600 MB', { timeout: 300_000 }, () => {
  test.each(Object.entries(LOGS))(
    '48. %s: what can be read is, the rest says why, in little memory',
    (place, pieces) => {
      const temp = aStore(pieces);
      const isLast = place !== 'in the middle';
      const runs: readonly (readonly [string[], number, RegExp])[] = [
        [['list', '--all'], 0, /^/],
        [['show', 's'], 5, TOO_LONG],
        [['show', 's', '--tail', '1'], isLast ? 5 : 0, isLast ? TOO_LONG : /^/],
        [['fork', 's'], 5, TOO_LONG],
        [['rewind', 's', '--to', '1', '--force'], 5, TOO_LONG],
        [['rename', 's', 'new'], 0, /^/],
        [['append', 's'], isLast ? 5 : 0, isLast ? TOO_LONG : /^/],
        [['append', 'other'], 0, /^/],
        [['rewind', 'other', '--to', '1', '--force'], 0, /^/],
      ];

      for (const [argv, code, message] of runs) {
        const result = run(temp, argv, '{"type":"error"}\n');

        const whole = `${argv.join(' ')}, ended by ${result.endedBy}: ${result.out.slice(0, 200)}`;
        expect([result.code, result.err], whole).toEqual([code, expect.stringMatching(message)]);
        expect(result.peak, argv.join(' ')).toBeLessThan(300);
      }
      expect(run(temp, ['show', 's']).out).toContain('event 2');
      // Nothing was cut off and nothing was copied.
      expect(statSync(temp.path('events.jsonl')).size).toBeGreaterThan(LINE);
    },
  );
});

describe('a log of more than 2 GB', { timeout: 300_000 }, () => {
  test('48. it is read as a stream, appended to and forked from its beginning, in little memory', () => {
    const holes = Array.from({ length: 4 }, () => ({ hole: LINE, ends: true }));
    const temp = aStore([{ sequence: 1 }, { sequence: 2 }, ...holes, { sequence: 3 }]);
    expect(statSync(temp.path('events.jsonl')).size).toBeGreaterThan(2 ** 31);

    const shown = run(temp, ['show', 's', '--json']);
    const appended = run(temp, ['append', 's'], '{"type":"error"}\n');
    const forked = run(temp, ['fork', 's', '--at', '2', '-q']);
    const tail = run(temp, ['show', 's', '--tail', '2', '--json']);

    expect([shown.code, appended.code, forked.code, tail.code]).toEqual([5, 0, 0, 0]);
    expect(JSON.parse(shown.out).damage).toHaveLength(4);
    expect(JSON.parse(tail.out).events.map((event: { sequence: number }) => event.sequence)).toEqual([3, 4]);
    for (const { peak } of [shown, appended, forked, tail]) expect(peak).toBeLessThan(300);
  });
});

describe('a log of 100 MB of usual events', { timeout: 300_000 }, () => {
  test('FAULTS 23: it is read, appended to, forked, rewound and taken back in a fraction of its size', () => {
    const temp = tempStore(aSession().withMetadata({ eventCount: EVENTS }));
    const content = 'word '.repeat(1000);
    const fd = openSync(temp.path('events.jsonl'), 'w');
    for (let sequence = 1; sequence <= EVENTS; sequence += 1)
      writeSync(fd, `${aLine({ sequence, payload: `{"content":"${content}","role":"user"}` })}\n`);
    closeSync(fd);
    expect(statSync(temp.path('events.jsonl')).size).toBeGreaterThan(100 * MEGABYTE);

    for (const argv of [
      ['show', 's', '--tail', '1'],
      ['show', 's', '--jsonl', '--no-redact'],
      ['append', 's'],
      ['fork', 's'],
      ['rewind', 's', '--to', '100', '--force'],
      ['rewind', 's', '--undo'],
      ['compact', 's'],
      ['resume', 's'],
    ]) {
      const { code, peak } = run(temp, argv, '{"type":"error"}\n');

      expect([argv, code]).toEqual([argv, 0]);
      expect(peak, argv.join(' ')).toBeLessThan(160);
    }
  });
});
