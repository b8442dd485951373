import { describe, expect, test } from 'vitest';
import {
  AmbiguousNameError,
  InvalidArgumentError,
  type SessionMetadata,
  SessionNotFoundError,
} from '../../src/index.js';
import { fullIdIn, type KnownSessions, type NamingPlace, resolveSelector } from '../../src/plan/selector.js';

/** Gives sessions in the order given, newest first. */
function known(
  sessions: Readonly<Record<string, Partial<SessionMetadata>>>,
  unreadable: readonly string[] = [],
): KnownSessions {
  const times = { createdAt: '2026-07-09T10:00:00Z', updatedAt: '2026-07-09T10:00:00Z', eventCount: 0 };
  return {
    sessions: Object.entries(sessions).map(([sessionId, members]) => ({ sessionId, ...times, ...members })),
    unreadable: unreadable.map((sessionId) => ({ sessionId })),
  };
}

const errorOf = (name: string, sessions: KnownSessions, place: NamingPlace = {}): unknown => {
  try {
    return resolveSelector(name, sessions, place);
  } catch (error) {
    return error;
  }
};

describe('a name for the latest session', () => {
  const sessions = known({
    child: { sessionKind: 'child' },
    b: {},
    side: { sessionKind: 'side' },
    a: { sessionKind: 'fork' },
    draft: { sessionKind: 'spec-draft' },
    c: {},
  });

  test.each([
    ['latest', 'b'],
    ['@{-0}', 'b'],
    ['@0', 'b'],
    ['@1', 'a'],
    ['@2', 'c'],
    ['@{-1}', 'a'],
    ['@{-2}', 'c'],
  ])('given %s, then only sessions that can be resumed count', (name, id) => {
    expect(resolveSelector(name, sessions)).toBe(id);
  });

  test.each(['@{-3}', '@{-99999999999999999999}', '@3', '@-1', '@01', '@', '@{1}', '@{--1}', '@{-01}', 'LATEST'])(
    'given %s, then there is none',
    (name) => {
      expect(() => resolveSelector(name, sessions)).toThrow(SessionNotFoundError);
    },
  );

  test('given a session whose id is latest, then it is id:latest', () => {
    const sessions = known({ newest: {}, latest: {} });

    expect(resolveSelector('latest', sessions)).toBe('newest');
    expect(resolveSelector('id:latest', sessions)).toBe('latest');
  });

  test('given nothing to resume, then the next rules are asked', () => {
    expect(resolveSelector('latest', known({ latest: { sessionKind: 'child' } }))).toBe('latest');
    expect(resolveSelector('@{-7}', known({ a: { title: '@{-7}' } }))).toBe('a');
  });
});

describe('a name for the latest session here', () => {
  const sessions = known({
    child: { sessionKind: 'child', cwd: '/here' },
    b: { cwd: '/elsewhere' },
    a: { cwd: '/here' },
    c: { cwd: '/here' },
    here: {},
  });
  const isHere = ({ cwd }: SessionMetadata) => cwd === '/here';

  test('given here, then it is the newest that can be resumed and worked there', () => {
    expect(resolveSelector('here', sessions, { isHere })).toBe('a');
    expect(resolveSelector('id:here', sessions, { isHere })).toBe('here');
  });

  test('given no session there, or no place, then the next rules are asked', () => {
    expect(resolveSelector('here', sessions, { isHere: () => false })).toBe('here');
    expect(resolveSelector('here', sessions)).toBe('here');
    expect(fullIdIn('here')).toBeUndefined();
  });
});

describe('a title', () => {
  const shownTitle = ({ title = '' }: SessionMetadata) =>
    title.replaceAll('\u001b', '\\u{1b}').replace('hunter2', '[REDACTED]');

  test('given one in another normal form, then it is the same', () => {
    const sessions = known({ a: { title: 'Cafe\u0301' }, b: { title: 'Caf\u00e9s' } });

    expect(resolveSelector('Caf\u00e9', sessions)).toBe('a');
    expect(resolveSelector('title:Cafe\u0301s', sessions)).toBe('b');
  });

  test.each([
    ['escaped', 'Red \\u{1b}[31m', 'a'],
    ['redacted', 'The [REDACTED] thing', 'b'],
    ['cut with a mark', 'A long ti…', 'c'],
    ['cut in ASCII', 'A long ti...', 'c'],
    ['escaped, then cut', 'title:Red \\u{1b…', 'a'],
  ])('given one as a terminal shows it, %s, then it is found', (_, name, id) => {
    const sessions = known({
      a: { title: 'Red \u001b[31m' },
      b: { title: 'The hunter2 thing' },
      c: { title: 'A long title of a session' },
      d: { title: 'Another…' },
    });

    expect(resolveSelector(name, sessions, { shownTitle })).toBe(id);
  });

  test('given a cut one that fits several, then it is ambiguous; one that is a title as it stands is that', () => {
    const sessions = known({ a: { title: 'Fix foo' }, b: { title: 'Fix bar' }, c: { title: 'Another…' } });

    expect(errorOf('Fix…', sessions, { shownTitle })).toMatchObject({ candidates: ['a', 'b'] });
    expect(resolveSelector('Another…', sessions, { shownTitle })).toBe('c');
    expect(() => resolveSelector('…', sessions, { shownTitle })).toThrow(SessionNotFoundError);
  });
});

describe('finding 37: a relation that leads to nobody', () => {
  const sessions = known({ orphan: { parentSessionId: 'gone', rootSessionId: 'lost' }, top: {} }, ['broken']);

  test.each([
    ['parent:orphan', 'gone, the parent of session orphan, is not there'],
    ['root:orphan', 'lost, the root of session orphan, is not there'],
    ['parent:top', 'session top has no parent'],
    ['parent:broken', 'session broken cannot be read, so its parent is not known'],
    ['parent:parent:orphan', 'gone, the parent of session orphan, is not there'],
  ])('given %s, then it says why', (name, reason) => {
    expect(errorOf(name, sessions)).toMatchObject({ message: `No session named ${JSON.stringify(name)}: ${reason}` });
  });
});

describe('a name by relation', () => {
  const sessions = known(
    {
      grandchild: { parentSessionId: 'child', rootSessionId: 'top', title: 'Deep' },
      child: { parentSessionId: 'top', rootSessionId: 'top' },
      top: {},
      old: { parentSessionId: 'child' },
      orphan: { parentSessionId: 'gone', rootSessionId: 'gone' },
      ofBroken: { parentSessionId: 'broken', rootSessionId: 'broken' },
    },
    ['broken'],
  );

  test.each([
    ['parent:grandchild', 'child'],
    ['parent: Deep', 'child'],
    ['parent:title:Deep', 'child'],
    ['parent:parent:id:grandchild', 'top'],
    ['root:grandchild', 'top'],
    ['root:top', 'top'],
    ['root:parent:grandchild', 'top'],
    ['parent:ofBro', 'broken'],
    ['root:ofBroken', 'broken'],
  ])('given %s, then it is the session that is related', (name, id) => {
    expect(resolveSelector(name, sessions)).toBe(id);
  });

  test('given no recorded root, then it is found by going up', () => {
    expect(resolveSelector('root:old', sessions)).toBe('top');
  });

  test.each(['parent:top', 'parent:orphan', 'root:orphan', 'parent:broken', 'parent:nobody', 'parent:parent:child'])(
    'given %s, then there is none',
    (name) => {
      expect(() => resolveSelector(name, sessions)).toThrow(SessionNotFoundError);
    },
  );

  test('given a name inside that fits two, then it is ambiguous', () => {
    const error = errorOf('parent:s', known({ s1: { parentSessionId: 'x' }, s2: { parentSessionId: 'x' }, x: {} }));

    expect(error).toMatchObject({ code: 'AMBIGUOUS_NAME', candidates: ['s1', 's2'] });
  });

  test('given a title that only looks like one, then it is still a title', () => {
    expect(resolveSelector('parent: a guide', known({ a: { title: 'parent: a guide' } }))).toBe('a');
  });

  test('given sessions that are each other’s ancestors, then there is no root', () => {
    const ring = known({ a: { parentSessionId: 'b' }, b: { parentSessionId: 'a' } });

    expect(() => resolveSelector('root:a', ring)).toThrow(SessionNotFoundError);
    expect(resolveSelector('parent:a', ring)).toBe('b');
  });

  test('given a relation repeated as often as a command line can hold, then it ends', () => {
    expect(() => resolveSelector(`${'parent:'.repeat(5000)}top`, sessions)).toThrow(SessionNotFoundError);
    expect(resolveSelector(`${'root:'.repeat(5000)}grandchild`, sessions)).toBe('top');
  });
});

describe('a plain name', () => {
  const sessions = known(
    {
      abc: { title: 'abcdef' },
      abcdef: { title: ' Fix the parser ' },
      xyz: { title: 'abc' },
      t1: { title: 'Same' },
      t2: { title: 'Same' },
    },
    ['abz', 'xyz-broken'],
  );

  test.each([
    ['a full id before a beginning and before a title', 'abc', 'abc'],
    ['a full id that is a title of another', 'abcdef', 'abcdef'],
    ['a beginning of one id', 'abcd', 'abcdef'],
    ['a beginning of a damaged one', 'abz', 'abz'],
    ['a whole title', 'Fix the parser', 'abcdef'],
    ['space around it', ' \u0085Fix the parser\u00a0', 'abcdef'],
    ['title: and a title that is an id of another', 'title:abc', 'xyz'],
    ['id: and a full id', 'id: abc ', 'abc'],
  ])('given %s, then it is found', (_, name, id) => {
    expect(resolveSelector(name, sessions)).toBe(id);
  });

  test.each([
    ['id: and a beginning', 'id:abcd'],
    ['id: and a title', 'id:Same'],
    ['title: and an id', 'title:xyz'],
    ['title: and a damaged one', 'title:abz'],
    ['another case of an id', 'ABC'],
    ['another case of a title', 'fix the parser'],
    ['a part of a title', 'Fix'],
  ])('given %s, then it is not found', (_, name) => {
    expect(() => resolveSelector(name, sessions)).toThrow(SessionNotFoundError);
  });

  test('given a title that begins with id:, then it takes over no id', () => {
    expect(() => resolveSelector('id:gone', known({ a: { title: 'id:gone' } }))).toThrow(SessionNotFoundError);
    expect(resolveSelector('title:id:gone', known({ a: { title: 'id:gone' } }))).toBe('a');
  });

  test.each([
    ['ab', ['abc', 'abcdef', 'abz']],
    ['Same', ['t1', 't2']],
    ['xy', ['xyz', 'xyz-broken']],
  ])('given %s, which fits several, then it is ambiguous, damaged ones included', (name, candidates) => {
    expect(errorOf(name, sessions)).toBeInstanceOf(AmbiguousNameError);
    expect(errorOf(name, sessions)).toMatchObject({ candidates });
  });

  test.each(['', '  ', '\u0085', 'id:', 'title: ', 'parent:', 'root:parent:'])(
    'given %j, then it is wrong usage',
    (name) => {
      expect(() => resolveSelector(name, sessions)).toThrow(InvalidArgumentError);
    },
  );
});

describe('candidates for a name that fits none', () => {
  const sessions = known({ '01J8XABC': { title: 'Fix the parser' }, '01J8XDEF': { title: 'Write docs' }, demo: {} }, [
    'Damaged-one',
  ]);

  test.each([
    ['another case', '01j8xabc', ['01J8XABC']],
    ['a slip in an id', '01J8XABD', ['01J8XABC']],
    ['two characters swapped', 'edmo', ['demo']],
    ['another case of a title', 'WRITE DOCS', ['01J8XDEF']],
    ['a part of a title', 'parser', ['01J8XABC']],
    ['another case of the beginning of a damaged one', 'damaged', ['Damaged-one']],
    ['a form in front', 'title:write docs', ['01J8XDEF']],
    ['nothing like it', 'something else entirely', []],
    ['a session without a parent', 'parent:demo', []],
  ])('given %s, then what is close is named', (_, name, candidates) => {
    expect(errorOf(name, sessions)).toMatchObject({ code: 'SESSION_NOT_FOUND', candidates });
  });

  test('given many that are close, then five are named, the closest first', () => {
    const many = known(
      Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`run-${at}`, { title: `Run ${at}` }])),
    );

    const error = errorOf('run_17', many) as SessionNotFoundError;

    expect(error.candidates).toHaveLength(5);
    expect(error.candidates[0]).toBe('run-17');
  });

  test('given titles as long as a book, then comparing them does not matter', () => {
    const title = 'word '.repeat(200_000);

    expect(errorOf('wrod', known({ a: { title }, b: { title } }))).toBeInstanceOf(SessionNotFoundError);
  });
});

describe('a name that is a full id by its form', () => {
  test.each([
    ['abc', 'abc'],
    [' abc ', 'abc'],
    ['id:latest', 'latest'],
    ['latest', undefined],
    ['parent:abc', undefined],
    ['a title', undefined],
    ['@{-1}', undefined],
    ['', undefined],
  ])('given %j, then it is %j', (name, id) => {
    expect(fullIdIn(name)).toBe(id);
  });
});
