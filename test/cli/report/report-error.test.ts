import { describe, expect, test } from 'vitest';
import type { CliContext } from '../../../src/cli/context.js';
import { InterruptedError } from '../../../src/cli/errors.js';
import { HIDE_SECRETS } from '../../../src/cli/redaction.js';
import { createStyle } from '../../../src/cli/render/style.js';
import { EXIT_CODES } from '../../../src/cli/report/exit-codes.js';
import { reportError } from '../../../src/cli/report/report-error.js';
import {
  AmbiguousNameError,
  IncompleteError,
  SessionBusyError,
  SessionNotFoundError,
  SystemError,
} from '../../../src/errors.js';
import { errorOf } from '../../support/json-document.js';

describe('an error of ours', () => {
  test('given text, then it goes to stderr with its hint', async () => {
    const told = await tell(new SessionNotFoundError('nobody'));

    expect(told).toEqual({
      code: 3,
      out: '',
      err: 'zero-sessions: No session named "nobody"\n  List the sessions with: zero-sessions list --all\n',
    });
  });

  test('given --json, then its facts are members beside code, message and hint', async () => {
    const { code, out } = await tell(new AmbiguousNameError('a', ['ab', 'ac']), 'json');

    expect(code).toBe(2);
    expect(errorOf(out)).toEqual({
      code: 'AMBIGUOUS_NAME',
      message: '"a" fits 2 sessions: ab, ac',
      hint: 'Give more of the id, or the full id as id:ID.',
      selector: 'a',
      candidates: ['ab', 'ac'],
    });
  });

  test('given a plan, then it is in the error', async () => {
    const plan = { files: [{ path: 'a', action: 'impossible', reason: undefined }], complete: false };

    const { code, out } = await tell(new IncompleteError('Not all of it', plan), 'json');

    expect(code).toBe(6);
    expect(errorOf(out).plan).toEqual({ files: [{ path: 'a', action: 'impossible' }], complete: false });
  });

  test('given a fact that is not known, then it is left out', async () => {
    const { out } = await tell(new SessionBusyError('s', undefined, 5), 'jsonl');

    expect(out.indexOf('\n')).toBe(out.length - 1);
    expect(Object.keys(errorOf(out))).toEqual(['code', 'message', 'hint', 'id']);
  });

  test('given an interruption, then nobody is told what he did himself', async () => {
    const told = await tell(new InterruptedError(), 'json');

    expect(told).toEqual({ code: 130, out: '', err: '' });
  });

  test('given that stdout is what failed, then stderr has the message all the same', async () => {
    const failure = new SystemError('Cannot write to standard output: ENOSPC', 'ENOSPC', undefined);

    const told = await tell(failure, 'json', { writeOut: () => Promise.reject(failure) });

    expect(told.code).toBe(1);
    expect(told.err).toContain('ENOSPC');
  });
});

describe('an error that nobody expected', () => {
  test('given any, then it exits 1 with a code of its own, and asks to be reported', async () => {
    const { code, out, err } = await tell(new TypeError('x is not a function'), 'json');

    expect(code).toBe(1);
    expect(errorOf(out).code).toBe('INTERNAL');
    expect(err).toBe(
      'zero-sessions: This should not have happened: x is not a function\n' +
        '  Please report it, with what ZERO_SESSIONS_DEBUG=1 adds to this message.\n',
    );
  });

  test('given ZERO_SESSIONS_DEBUG, then where it happened is said', async () => {
    const { err } = await tell(new TypeError('x'), 'text', { env: { ZERO_SESSIONS_DEBUG: '1' } });

    expect(err).toContain('report-error.test.ts');
  });
});

describe('the exit codes', () => {
  test('given every error code, then its exit code is one of those that are promised', () => {
    expect(new Set(Object.values(EXIT_CODES))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 130]));
  });
});

interface Circumstances {
  readonly env?: Readonly<Record<string, string>>;
  readonly writeOut?: () => Promise<void>;
}

async function tell(error: unknown, format: 'text' | 'json' | 'jsonl' = 'text', circumstances: Circumstances = {}) {
  const kept = { out: '', err: '' };
  const keep = (name: 'out' | 'err') => async (data: string | Uint8Array) => {
    kept[name] += Buffer.from(data).toString();
  };
  const { signal } = new AbortController();
  const context = {
    out: { write: circumstances.writeOut ?? keep('out'), closed: false, signal },
    err: { write: keep('err'), closed: false, signal },
    env: circumstances.env ?? {},
  } as unknown as CliContext;
  const style = createStyle({ color: false });
  const code = await reportError(error, context, { format, redaction: HIDE_SECRETS, style });
  return { code, ...kept };
}
