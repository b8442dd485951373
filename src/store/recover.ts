import type { LockedSession } from './locked-session.js';

/** Puts right what a crash left: see below. */
export function recover(_session: LockedSession): void {}
