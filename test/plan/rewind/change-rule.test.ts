import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { FileState } from '../../../src/index.js';
import { type BlobHash, parseBlobHash } from '../../../src/model/ids.js';
import { type ChangeVerdict, evidenceOf, mayLoseContent, whoChanged } from '../../../src/plan/rewind/change-rule.js';
import type { PresentState } from '../../../src/plan/rewind/file-change.js';
import { type LogWork, readWork, type WorkReading } from '../../../src/plan/rewind/session-work.js';
import { aLog, type EventParts } from '../../support/stored-log.js';

const DAY = 24 * 3600;
/** The second of the user's message in most logs; times are seconds after 2026-07-09T12:00:00Z. */
const ASKED = 100;
const START_MS = Date.parse('2026-07-09T12:00:00Z');

type Timed = EventParts & { readonly second: number };

function hashText(text: string): BlobHash {
  return parseBlobHash(createHash('sha256').update(text).digest('hex')) as BlobHash;
}

const timeOf = (second: number): string => new Date(START_MS + second * 1000).toISOString().replace('.000Z', 'Z');

function work(events: readonly Timed[], reading: Partial<WorkReading> = {}): LogWork {
  const sessionId = reading.sessionId ?? 's';
  const parts = events.map(({ second, ...event }) => ({ createdAt: timeOf(second), ...event }));
  const locate = (path: string): string | undefined => {
    if (!path.startsWith('/')) return path;
    return path.startsWith('/w/') ? path.slice(3) : undefined;
  };
  return readWork(aLog(sessionId, parts), {
    sessionId,
    after: 0,
    resolve: locate,
    locate,
    hashText,
    isOpen: false,
    ...reading,
  });
}

/** What is there: a content, last changed at this second. */
interface Found {
  readonly content: string;
  readonly second: number;
}

const isThere = ({ content, second }: Found) => ({
  kind: 'file' as const,
  hash: hashText(content),
  bytes: content.length,
  mode: 0o644,
  mtimeMs: START_MS + second * 1000,
});

function verdictOn(found: Found, ...logs: readonly LogWork[]): ChangeVerdict {
  return whoChanged(isThere(found), evidenceOf('s', logs, 'a'));
}

const inShort = ({ by, row }: ChangeVerdict): string => `${by} ${row}`;

// What the logs are made of.

const state = (content: string | undefined) =>
  content === undefined ? { absent: true } : { blob: hashText(content), mode: 0o644 };
const asked = (second = ASKED, role = 'user'): Timed => ({
  type: 'message',
  second,
  payload: { role, content: 'please' },
});
const called = (second: number, name: string, given: object, id = 'c1'): Timed => ({
  type: 'tool_call',
  second,
  payload: { id, name, arguments: JSON.stringify(given) },
});
const captured = (second: number, tool: string, content: string | undefined = 'before', path = 'a'): Timed => ({
  type: 'session_checkpoint',
  second,
  payload: { tool, files: [{ path, ...state(content) }] },
});
const answered = (second: number, name: string, more: object = {}, id = 'c1'): Timed => ({
  type: 'tool_result',
  second,
  payload: { toolCallId: id, name, status: 'ok', output: '', ...more },
});
const rewound = (second: number): Timed => ({ type: 'session_rewind', second, payload: { targetSequence: 1 } });
const intended = (second: number, before: string, to: string, isForeign = false): Timed => ({
  type: 'session_checkpoint',
  second,
  payload: {
    tool: 'zero-sessions/rewind-intent',
    files: [{ path: 'a', ...state(before), to: state(to), ...(isForeign ? { foreign: true } : {}) }],
    rewind: { id: '01J2ANW0000000000000000000', session: 's', target: 1 },
  },
});
const forked: Timed = { type: 'session_fork', second: 500, payload: { parentSessionId: 'p', copiedEventCount: 4 } };

const TOOLS = {
  write: ['write_file', { path: 'a', content: 'written' }],
  edit: ['edit_file', { file_path: '/w/a', old_string: 'x', new_string: 'y' }],
  patch: ['apply_patch', { patch: '*** Begin Patch\n*** Update File: a\n@@\n' }],
  shell: ['bash', { command: 'sed -i s/x/y/ a' }],
  unknown: ['mcp__notes__save', { key: 1 }],
} as const;
type Tool = keyof typeof TOOLS;

const OUTCOMES = {
  ok: {},
  error: { status: 'error', output: 'Error: no such line' },
  denied: { status: 'error', output: 'no', meta: { permission_action: 'deny' } },
} as const;
type Outcome = keyof typeof OUTCOMES | 'none';

/** Call, checkpoint and result as `zero exec` stamps them: each at its moment. */
function execLog(tool: Tool, outcome: Outcome): readonly Timed[] {
  const [name, given] = TOOLS[tool];
  const result = outcome === 'none' ? [] : [answered(112, name, OUTCOMES[outcome])];
  return [asked(), called(110, name, given), captured(110, name), ...result, asked(300)];
}

/** The same as the terminal program stamps it: all at the end of the run. */
function tuiLog(tool: Tool, outcome: Outcome): readonly Timed[] {
  return execLog(tool, outcome).map((event, at) =>
    at === 0 || event.second === 300 ? event : { ...event, second: 250 },
  );
}

const WHEN = { older: -DAY, inside: 111, later: DAY } as const;

describe('finding 11: the rule of changes, a content that nobody knows', () => {
  // One row for each tool and outcome; the columns are a file older than the turn, from its time, and much later.
  test.each([
    ['write', 'ok', 'other 4', 'other 4', 'other 4'],
    ['write', 'error', 'other 5', 'session 5', 'other 5'],
    ['write', 'denied', 'other 4', 'other 4', 'other 4'],
    ['write', 'none', 'other 5', 'session 5', 'other 5'],
    ['edit', 'ok', 'other 5', 'session 5', 'other 5'],
    ['edit', 'error', 'other 5', 'session 5', 'other 5'],
    ['edit', 'denied', 'other 4', 'other 4', 'other 4'],
    ['edit', 'none', 'other 5', 'session 5', 'other 5'],
    ['patch', 'ok', 'other 5', 'session 5', 'other 5'],
    ['patch', 'error', 'other 5', 'session 5', 'other 5'],
    ['patch', 'denied', 'other 4', 'other 4', 'other 4'],
    ['patch', 'none', 'other 5', 'session 5', 'other 5'],
    ['shell', 'ok', 'other 5', 'session 3', 'other 5'],
    ['shell', 'error', 'other 5', 'session 3', 'other 5'],
    ['shell', 'denied', 'other 4', 'session 3', 'other 4'],
    ['shell', 'none', 'other 5', 'session 5', 'other 5'],
    ['unknown', 'ok', 'other 5', 'session 5', 'other 5'],
    ['unknown', 'error', 'other 5', 'session 5', 'other 5'],
    ['unknown', 'denied', 'other 4', 'other 4', 'other 4'],
    ['unknown', 'none', 'other 5', 'session 5', 'other 5'],
  ] as const)('given %s, %s, then older is %s, inside %s, later %s', (tool, outcome, older, inside, later) => {
    const log = work(execLog(tool, outcome));
    const found = Object.values(WHEN).map((second) => inShort(verdictOn({ content: 'unknown', second }, log)));
    expect(found).toEqual([older, inside, later]);

    // Late stamps change nothing, except that the run's end is the window's.
    const late = work(tuiLog(tool, outcome));
    expect(Object.values(WHEN).map((second) => inShort(verdictOn({ content: 'unknown', second }, late)))).toEqual(
      found,
    );
  });
});

describe('finding 11: the rule of changes, a content that is known', () => {
  const contents = {
    'the same': (second: number) => ({ content: 'before', second }),
    'what a later checkpoint found': (second: number) => ({ content: 'found later', second }),
  };
  test.each(
    (Object.keys(TOOLS) as Tool[]).flatMap((tool) =>
      (['ok', 'error', 'denied', 'none'] as const).map((outcome) => [tool, outcome] as const),
    ),
  )('given %s, %s, then nothing but the content counts', (tool, outcome) => {
    const log = work([...execLog(tool, outcome), captured(310, TOOLS[tool][0], 'found later')]);
    for (const second of Object.values(WHEN)) {
      const wanted = {
        kind: 'stored',
        hash: hashText('before'),
        blob: hashText('before'),
        mode: 0o644,
        bytes: 6,
      } as FileState;
      expect(mayLoseContent(isThere(contents['the same'](second)), wanted)).toBe(false);
      expect(inShort(verdictOn(contents['what a later checkpoint found'](second), log))).toBe('session 2');
    }
    const absent: PresentState = { kind: 'absent', missingFolders: 0 };
    expect(mayLoseContent(absent, { kind: 'absent', newDirs: 0 })).toBe(false);
  });

  test.each([
    ['ok', 'session 2', 'session 2'],
    ['error', 'other 5', 'session 5'],
    ['denied', 'other 4', 'other 4'],
    ['none', 'other 5', 'session 5'],
  ] as const)(
    'given the content of a write that came to %s, then later it is %s and inside %s',
    (outcome, later, inside) => {
      const log = work(execLog('write', outcome));
      expect(inShort(verdictOn({ content: 'written', second: DAY }, log))).toBe(later);
      expect(inShort(verdictOn({ content: 'written', second: 111 }, log))).toBe(inside);
    },
  );

  test('given an older file put over what a write is known to have left, then it is somebody else’s', () => {
    expect(inShort(verdictOn({ content: 'older', second: 111 }, work(execLog('write', 'ok'))))).toBe('other 4');
  });

  test('given the content that a write had for a file of this name in another project, then it tells nothing', () => {
    const log = work([
      ...execLog('edit', 'ok'),
      called(310, 'write_file', { path: '/elsewhere/a', content: 'theirs' }, 'c2'),
      answered(311, 'write_file', {}, 'c2'),
    ]);
    expect(inShort(verdictOn({ content: 'theirs', second: -DAY }, log))).toBe('other 5');
  });

  test.each([
    ['before', 'session 2'],
    ['to', 'session 2'],
    ['somebody’s', 'other 5'],
  ])('given a rewind of ours, and the content %s of it, then %s', (content, expected) => {
    const kept = work([...execLog('edit', 'ok'), intended(900, 'before', 'to')]);
    expect(inShort(verdictOn({ content, second: DAY }, work(execLog('edit', 'ok')), kept))).toBe(expected);
  });

  test('given what a rewind replaced by force, then it stays somebody else’s, also where a checkpoint knows it', () => {
    const kept = work([...execLog('edit', 'ok'), intended(900, 'foreign', 'to', true)]);
    const present = work([...execLog('edit', 'ok'), captured(950, 'edit_file', 'foreign')]);
    expect(inShort(verdictOn({ content: 'foreign', second: 111 }, present, kept))).toBe('other 1');
    expect(inShort(verdictOn({ content: 'to', second: 111 }, present, kept))).toBe('session 2');
  });

  test('given a restore of ours, then its before-images are known, and it is no work of a tool', () => {
    const log = work([...execLog('edit', 'ok'), captured(900, 'zero-sessions/restore', 'replaced'), rewound(900)]);
    expect(inShort(verdictOn({ content: 'replaced', second: DAY }, log))).toBe('session 2');
    expect(inShort(verdictOn({ content: 'unknown', second: 800 }, log))).toBe('other 5');
  });
});

describe('finding 11: the rule of changes, windows', () => {
  const edit = (second: number) => called(second, 'edit_file', { path: 'a' });
  const unknownAt = (second: number, ...logs: readonly LogWork[]): string =>
    inShort(verdictOn({ content: 'unknown', second }, ...logs));

  test.each([
    ['two seconds before the user’s message', 98, 'session 5'],
    ['a moment earlier', 97.999, 'other 5'],
    ['two seconds after the result', 114, 'session 5'],
    ['a moment later', 114.001, 'other 5'],
  ])('given an edit, and a time %s (%d), then %s', (_, second, expected) => {
    expect(unknownAt(second, work(execLog('edit', 'ok')))).toBe(expected);
  });

  test.each([
    ['in the run', 200, 'session 5'],
    ['two seconds after the run', 252, 'session 5'],
    ['later', 252.001, 'other 5'],
  ])('given late stamps, and a time %s (%d), then %s', (_, second, expected) => {
    expect(unknownAt(second, work(tuiLog('edit', 'ok')))).toBe(expected);
  });

  test.each([
    ['ten minutes after the checkpoint', 710, 'session 5'],
    ['later', 710.001, 'other 5'],
  ])('given a call without a result, and a time %s (%d), then %s', (_, second, expected) => {
    expect(unknownAt(second, work(execLog('edit', 'none')))).toBe(expected);
  });

  test.each([
    ['no result', execLog('edit', 'none'), 'session 5'],
    ['no call', [asked(), captured(110, 'manual')], 'session 5'],
    ['a result', execLog('edit', 'ok'), 'other 5'],
  ] as const)('given %s, and a process that has the session open, then a day later it is %s', (_, log, expected) => {
    expect(unknownAt(DAY * 3, work(log, { isOpen: true }))).toBe(expected);
  });

  test.each([
    ['a day after the capture', 110 + DAY, 'session 5'],
    ['later', 110 + DAY + 1, 'other 5'],
    ['before the user’s message', 90, 'other 5'],
  ])('given `checkpoint capture`, and a time %s (%d), then %s', (_, second, expected) => {
    expect(unknownAt(second, work([asked(), captured(110, 'manual'), asked(300)]))).toBe(expected);
  });

  test.each([
    ['within the turn', 3 * DAY + 1, 'session 5'],
    ['after it', 3 * DAY + 3, 'other 5'],
  ])('given a capture in a turn of three days, and a time %s, then %s', (_, second, expected) => {
    const log = [asked(), captured(110, 'manual'), asked(3 * DAY, 'assistant'), asked(4 * DAY)];
    expect(unknownAt(second, work(log))).toBe(expected);
  });

  test('given a capture, and a rewind of ours weeks later, then the marker makes the turn no longer', () => {
    expect(unknownAt(8 * DAY, work([asked(), captured(110, 'manual'), rewound(9 * DAY)]))).toBe('other 5');
  });

  test.each([
    ['no message of the user’s', [edit(110), captured(110, 'edit_file'), answered(112, 'edit_file')]],
    ['that a fork copied it', [...execLog('edit', 'ok').map((event) => ({ ...event, second: 500 })), forked]],
  ] as const)('given %s, then an old file is the session’s, a later one not', (_, log) => {
    expect([unknownAt(-DAY, work(log)), unknownAt(DAY, work(log))]).toEqual(['session 5', 'other 5']);
  });

  test('given a copied write, then its content counts, whatever the time', () => {
    const log = work([...execLog('write', 'ok').map((event) => ({ ...event, second: 500 })), forked]);
    expect([unknownAt(-DAY, log), inShort(verdictOn({ content: 'written', second: DAY }, log))]).toEqual([
      'other 4',
      'session 2',
    ]);
  });

  test('given work of the fork’s own after what it copied, then the window has a beginning again', () => {
    const own = execLog('edit', 'ok').map((event) => ({ ...event, second: event.second + 1000 }));
    expect(unknownAt(-DAY, work([asked(500), forked, ...own]))).toBe('other 5');
  });

  test('given a time that cannot be read, then it is a conflict', () => {
    const [message, ...rest] = execLog('edit', 'ok');
    expect(unknownAt(111, work([{ ...message, second: 0, createdAt: 'soon' } as Timed, ...rest]))).toBe('other 5');
  });
});

describe('finding 11: the rule of changes, the session’s own shell', () => {
  const shell = (second: number, name = 'bash') => [
    called(second, name, { command: 'make' }, 'c2'),
    answered(second + 20, name, {}, 'c2'),
  ];
  const wrote = execLog('write', 'ok').slice(0, -1);

  test.each([
    ['a formatter after a write', [...wrote, ...shell(120)], 130, 'session 3'],
    ['one of `exec_command`', [...wrote, ...shell(120, 'exec_command')], 130, 'session 3'],
    ['one of `write_stdin`', [...wrote, ...shell(120, 'write_stdin')], 130, 'session 3'],
    ['a later turn of the shell', [...wrote, asked(200), ...shell(210)], 220, 'session 3'],
    ['a file from between the turns', [...wrote, asked(200), ...shell(210)], 180, 'other 4'],
    ['a shell that was done before the checkpoint', [asked(), ...shell(60), ...wrote.slice(1)], 75, 'other 4'],
    [
      'a shell that ran beside the write',
      [asked(), called(109, 'bash', {}, 'c2'), ...wrote.slice(1), answered(190, 'bash', {}, 'c2')],
      180,
      'session 3',
    ],
    ['a shell without a result', [...wrote, called(120, 'bash', {}, 'c2')], 130, 'other 4'],
    [
      'a tool that only reads',
      [...wrote, called(120, 'read_file', {}, 'c2'), answered(140, 'read_file', {}, 'c2')],
      130,
      'other 4',
    ],
    [
      'a tool that says it changed the file',
      [...wrote, called(120, 'gen', {}, 'c2'), answered(140, 'gen', { changedFiles: ['/w/a'] }, 'c2')],
      130,
      'session 3',
    ],
    [
      'a tool that says it changed another',
      [...wrote, called(120, 'gen', {}, 'c2'), answered(140, 'gen', { changedFiles: ['b'] }, 'c2')],
      130,
      'other 4',
    ],
    ['a rewind of Zero’s', [...wrote, rewound(900)], 895, 'session 3'],
    ['ten seconds before a rewind', [...wrote, rewound(900)], 890, 'session 3'],
    ['eleven seconds before a rewind', [...wrote, rewound(900)], 889, 'other 4'],
    ['two seconds after a rewind', [...wrote, rewound(900)], 902, 'session 3'],
    ['three seconds after a rewind', [...wrote, rewound(900)], 903, 'other 4'],
  ] as const)('given %s, then %s', (_, log, second, expected) => {
    expect(inShort(verdictOn({ content: 'unknown', second }, work(log)))).toBe(expected);
  });

  test('given a sub-agent that worked on the file later, then its log tells', () => {
    const parent = work(execLog('write', 'ok'));
    const child = work(
      [called(400, 'edit_file', { path: 'a' }), captured(400, 'edit_file'), answered(405, 'edit_file')],
      { sessionId: 'child' },
    );
    expect(inShort(verdictOn({ content: 'unknown', second: 404 }, parent))).toBe('other 4');
    const verdict = verdictOn({ content: 'unknown', second: 404 }, parent, child);
    expect([inShort(verdict), verdict.reason]).toEqual([
      'session 5',
      "the session's own edit_file of event 1 of session child",
    ]);
  });

  test('given a kept log with later work, then that is the last', () => {
    const kept = work([
      ...execLog('write', 'ok'),
      ...execLog('edit', 'ok').map((event) => ({ ...event, second: event.second + 400 })),
    ]);
    expect(inShort(verdictOn({ content: 'unknown', second: 511 }, work(execLog('write', 'ok')), kept))).toBe(
      'session 5',
    );
  });
});

describe('finding 11: which call a checkpoint belongs to', () => {
  const two = (role: string, first: object, other: object, results: readonly [number, number]) =>
    work([
      asked(),
      called(110, 'edit_file', first, 'c1'),
      called(111, 'edit_file', other, 'c2'),
      captured(112, 'edit_file'),
      answered(results[0], 'edit_file', {}, 'c1'),
      answered(results[1], 'edit_file', {}, 'c2'),
      asked(300, role),
    ]);

  test.each([
    ['path', { path: 'a' }],
    ['file', { file: './a' }],
    ['file_path', { file_path: '/w/a' }],
    ['filename', { filename: 'a' }],
    ['patch', { patch: '*** Update File: a\n' }],
    ['diff', { diff: '--- a/a\n+++ b/a\n' }],
  ])('given the path in %s, then it is the call that names it', (_, given) => {
    const log = two('user', given, { path: 'other' }, [120, 200]);
    expect(inShort(verdictOn({ content: 'unknown', second: 150 }, log))).toBe('other 5');
  });

  test('given calls that name no path, then it is the nearest', () => {
    const log = two('user', {}, {}, [200, 120]);
    expect(inShort(verdictOn({ content: 'unknown', second: 150 }, log))).toBe('other 5');
  });

  test('given ids that come again in every turn, then the result is that of its turn', () => {
    const log = work([
      ...execLog('edit', 'ok').slice(0, -1),
      asked(300),
      called(310, 'edit_file', { path: 'b' }),
      answered(400, 'edit_file'),
    ]);
    expect(inShort(verdictOn({ content: 'unknown', second: 350 }, log))).toBe('other 5');
  });

  test.each([
    ['a permission event of the call', { action: 'deny', name: 'edit_file', toolCallId: 'c1' }, 'other 4'],
    ['one that names the tool only', { action: 'deny', toolName: 'edit_file' }, 'other 4'],
    ['one of another call', { action: 'deny', name: 'bash', toolCallId: 'c9' }, 'session 5'],
    ['one with the call under its other spelling', { action: 'deny', name: 'any', id: 'c1' }, 'other 4'],
    ['one that allows', { action: 'allow', name: 'edit_file', toolCallId: 'c1' }, 'session 5'],
  ])('given %s, then %s', (_, payload, expected) => {
    const log = work([
      asked(),
      called(110, 'edit_file', { path: 'a' }),
      captured(110, 'edit_file'),
      { type: 'permission_decision', second: 111, payload },
      answered(112, 'edit_file', { status: 'error' }),
    ]);
    expect(inShort(verdictOn({ content: 'unknown', second: 111 }, log))).toBe(expected);
  });

  test('given an output that says it was denied, then it was', () => {
    const output = 'Error: Permission denied for edit_file';
    const log = work([
      asked(),
      called(110, 'edit_file', { path: 'a' }),
      captured(110, 'edit_file'),
      answered(112, 'edit_file', { output }),
    ]);
    expect(inShort(verdictOn({ content: 'unknown', second: 111 }, log))).toBe('other 4');
  });
});

describe('finding 11: the reason', () => {
  test.each([
    ['an own edit', execLog('edit', 'ok'), 111, "the session's own edit_file of event 2"],
    ['an own shell', execLog('shell', 'ok'), 111, "changed while the session's own bash of event 2 ran"],
    [
      'a later change',
      execLog('edit', 'ok'),
      600,
      'edited outside the session at 2026-07-09T12:10:00Z, after edit_file of event 2 ended by 2026-07-09T12:01:54Z',
    ],
    [
      'an older file',
      execLog('edit', 'ok'),
      0,
      'edited outside the session at 2026-07-09T12:00:00Z, before the turn with edit_file of event 2 began at 2026-07-09T12:01:38Z',
    ],
    [
      'not what was written',
      execLog('write', 'ok'),
      600,
      'edited outside the session at 2026-07-09T12:10:00Z: not what write_file of event 2 wrote',
    ],
    [
      'a denied call',
      execLog('edit', 'denied'),
      600,
      'edited outside the session at 2026-07-09T12:10:00Z: edit_file of event 2 was denied',
    ],
  ] as const)('given %s, then it is one that a person understands', (_, log, second, reason) => {
    expect(verdictOn({ content: 'unknown', second }, work(log)).reason).toBe(reason);
  });
});
