import type { SessionMetadata } from '../../model/metadata.js';
import type { SessionSizes } from '../../store/queries/session-sizes.js';

/** A session as the command line shows it: its metadata, and what was computed besides. */
export interface ListedSession {
  readonly session: SessionMetadata;
  /** Whether some process has it open or holds its lock right now; undefined where that cannot be told. */
  readonly live: boolean | undefined;
  readonly sizes?: SessionSizes;
}

/** A session that is not there, or cannot be read, and why; of the id nothing is known but that it was written so. */
export interface UnreadableRow {
  readonly sessionId: string;
  readonly code: string;
  readonly message: string;
}

/** The name that a session without `sessionKind` goes by on the command line. */
export const REGULAR_KIND = 'regular';

/** Gives the kind by which `--kind` names a session. */
export function kindName({ sessionKind }: SessionMetadata): string {
  return sessionKind === undefined || sessionKind === '' ? REGULAR_KIND : sessionKind;
}
