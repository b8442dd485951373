import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/fs/file-system.js';
import type { OptionalStep } from '../../../src/fs/refused-step.js';
import { openStore, type StoreWarning } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { workedSession } from '../../support/worked-session.js';

/** The real file system, whose mount refuses some steps; the files that it syncs are synced. */
function refusing(steps: readonly OptionalStep[], code: string): FileSystem {
  const fail = () => {
    throw Object.assign(new Error(`${code}: refused`), { code });
  };
  const has = (step: OptionalStep) => steps.includes(step);
  return {
    ...nodeFileSystem,
    ...(has('chmod') ? { fchmod: fail } : {}),
    ...(has('utimes') ? { setModified: fail } : {}),
    ...(has('link') ? { link: fail } : {}),
    openFolder: (path) => {
      const folder = nodeFileSystem.openFolder(path);
      return has('fsync of a folder') ? { path: folder.path, sync: fail, close: () => folder.close() } : folder;
    },
  };
}

// A mount that refuses modes gives its own.
const withoutModes = (files: readonly string[]) => files.map((file) => file.replace(/ \d{3} /, ' '));

const STEPS: readonly OptionalStep[] = ['chmod', 'utimes', 'link', 'fsync of a folder'];

describe('finding 20: a mount that refuses steps that nothing depends on', () => {
  test.each([
    ...STEPS.map((step) => [[step], 'EPERM'] as const),
    [STEPS, 'EINVAL'] as const,
    [STEPS, 'ENOSYS'] as const,
  ])('given %j refused with %s, then all is done, and at most one warning says so', async (steps, code) => {
    const temp = await workedSession();
    const warnings: StoreWarning[] = [];
    const store = openStore({
      root: temp.root,
      now: temp.clock.now,
      locks: inProcessLocks,
      fileSystem: refusing(steps, code),
      onWarning: (warning) => warnings.push(warning),
    });
    const before = withoutModes(temp.files());

    await store.create({ sessionId: 'new' });
    await store.appendEvents('s', [aMessage('one more')]);
    await store.fork('s', { sessionId: 'fork' });
    const { rewindId } = (await store.rewind('s', { target: 1 })).report;
    expect(withoutModes(temp.files())).not.toEqual(before);
    await store.undoRewind('s', { rewindId: rewindId as string });

    expect(withoutModes(temp.files())).toEqual(before);
    expect(temp.log()).toContain('one more');
    expect(warnings.filter(({ code: each }) => each === 'STEP_REFUSED').length).toBeLessThanOrEqual(1);
    expect(warnings.filter(({ code: each }) => each !== 'STEP_REFUSED')).toEqual([]);
  });

  test.each(['EIO', 'ENOSPC', 'EROFS', 'EDQUOT'])(
    'given %s, then it is a failure, and files are as they were',
    async (code) => {
      for (const step of STEPS) {
        if (step === 'utimes') continue; // set only when files are taken back
        const temp = await workedSession();
        const store = openStore({ root: temp.root, locks: inProcessLocks, fileSystem: refusing([step], code) });
        const before = temp.files();

        await expect(store.rewind('s', { target: 1 }), step).rejects.toThrow(code);

        expect(temp.files(), step).toEqual(before);
      }
    },
  );

  test.each(['EPERM', 'EINVAL', 'ENOSYS'])(
    'given a file that is not synced for %s, then that is a failure',
    async (code) => {
      const temp = await workedSession();
      const before = temp.log();
      const fsync = () => {
        throw Object.assign(new Error(code), { code });
      };
      const store = openStore({ root: temp.root, locks: inProcessLocks, fileSystem: { ...nodeFileSystem, fsync } });

      await expect(store.appendEvents('s', [aMessage('lost')])).rejects.toMatchObject({ code: 'DURABILITY_UNKNOWN' });

      expect(temp.log()).toBe(before);
    },
  );
});
