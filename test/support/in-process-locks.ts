import type { LockProvider } from '../../src/index.js';

/** Locks for one process with one store, where nobody else can be writing: taking the real ones starts a process. */
export const inProcessLocks: LockProvider = {
  withLock: (_id, _folder, work) => work({ assertHeld: () => {}, appendOnly: undefined }),
};
