import type { ErrorCode } from '../../errors.js';

/** Everything is as asked for. */
export const EXIT_DONE = 0;
/** What was asked for failed, or the program is wrong. */
export const EXIT_FAILED = 1;
/** All that is good was shown, beside what is damaged. */
export const EXIT_DAMAGED = 5;
/** Ended by Ctrl-C; by another signal it is another number (interruption.ts). */
const EXIT_INTERRUPTED = 130;

/** The code of an error that is nobody's but the program's. It exits as {@link EXIT_FAILED}. */
export const BUG_CODE = 'INTERNAL';

/** Which exit code each error code means (CLI.md, "Exit codes"). */
export const EXIT_CODES = {
  LOCK_LOST: EXIT_FAILED,
  LOCK_UNAVAILABLE: EXIT_FAILED,
  FOREIGN_OWNER: EXIT_FAILED,
  DURABILITY_UNKNOWN: EXIT_FAILED,
  SYSTEM: EXIT_FAILED,
  PROC_MISSING: EXIT_FAILED,
  ANSWER_LOST: EXIT_FAILED,

  INVALID_ID: 2,
  INVALID_ARGUMENT: 2,
  USAGE: 2,
  NOT_YET: 2,
  AMBIGUOUS_NAME: 2,
  SELECTOR_MISMATCH: 2,
  PLAN_MISMATCH: 2,
  NOT_RESUMABLE: 2,

  SESSION_NOT_FOUND: 3,
  EVENT_NOT_FOUND: 3,
  FILE_NOT_FOUND: 3,
  REWIND_NOT_FOUND: 3,
  NOTHING_TO_RESUME: 3,
  GOAL_NOT_FOUND: 3,

  SESSION_BUSY: 4,

  LOG_DAMAGED: EXIT_DAMAGED,
  LOG_MISSING: EXIT_DAMAGED,
  METADATA_DAMAGED: EXIT_DAMAGED,
  METADATA_MISSING: EXIT_DAMAGED,
  PAYLOAD_DAMAGED: EXIT_DAMAGED,
  PATH_REFUSED: EXIT_DAMAGED,
  CYCLE: EXIT_DAMAGED,
  SEQUENCE_EXHAUSTED: EXIT_DAMAGED,

  INCOMPLETE: 6,
  WORKSPACE_REFUSED: 6,

  CONFLICT: 7,
  STALE_PLAN: 7,
  SESSION_EXISTS: 7,
  GOAL_EXISTS: 7,
  INTERRUPTED_REWIND: 7,

  INTERRUPTED: EXIT_INTERRUPTED,
} as const satisfies Record<ErrorCode, number>;
