import { describe, expect, test } from 'vitest';
import { type OptionalStep, refusalOf, tolerate } from '../../src/fs/refused-step.js';

const STEPS: readonly OptionalStep[] = ['chmod', 'utimes', 'link', 'fsync of a folder'];

const failingWith = (code: string) => Object.assign(new Error(code), { code });

describe('finding 20: refusalOf', () => {
  test.each(
    STEPS.flatMap((step) => ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'].map((errno) => [step, errno])),
  )('given %s and %s, then the file system does without it', (step, errno) => {
    expect(refusalOf(step as OptionalStep, failingWith(errno as string))).toBe(errno);
  });

  test.each(STEPS.flatMap((step) => ['EIO', 'ENOSPC', 'EROFS', 'EDQUOT', 'ENOENT'].map((errno) => [step, errno])))(
    'given %s and %s, then it has failed',
    (step, errno) => {
      expect(refusalOf(step as OptionalStep, failingWith(errno as string))).toBeUndefined();
    },
  );

  test('given EACCES, then only a mode and a time are done without', () => {
    expect(STEPS.filter((step) => refusalOf(step, failingWith('EACCES')) !== undefined)).toEqual(['chmod', 'utimes']);
  });

  test('given an error of our own, then it is let through', () => {
    const fail = () => {
      throw new Error('a bug');
    };

    expect(() => tolerate('chmod', () => {}, fail)).toThrow('a bug');
  });
});
