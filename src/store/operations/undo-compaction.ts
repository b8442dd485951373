import { RewindNotFoundError } from '../../errors.js';
import type { RestoreReport } from '../../model/rewind-record.js';
import type { StoreDeps } from '../base/deps.js';
import { refuseInterrupted } from '../recovery/interrupted-rewind.js';
import { withSession } from '../recovery/session-lock.js';
import type { RewindReport } from '../rewind/apply-rewind.js';
import { runTransaction } from '../rewind/rewind-transaction.js';

/** Takes the latest compaction out of the log; the other lines stay byte for byte, and a marker tells of it. */
export async function undoCompaction(deps: StoreDeps, sessionId: string): Promise<RewindReport> {
  return withSession(deps, sessionId, (session) => {
    refuseInterrupted(session.log);
    const { events } = session.log.outline(session.metadata.eventCount);
    session.sealedTail();
    const compaction = events.findLast(({ type }) => type === 'session_compaction');
    if (compaction === undefined) throw new RewindNotFoundError(session.id, undefined, 'no compaction to undo');
    const target = events.findLast((event) => event !== compaction)?.sequence ?? 0;
    const report: RestoreReport = { targetSequence: target, filesRestored: 0, filesDeleted: 0 };
    const { rewindId } = runTransaction(session, {
      target,
      changes: [],
      workspace: undefined,
      keeps: ({ sequence, type }) => sequence !== compaction.sequence || type !== compaction.type,
      marker: () => ({ report, undoes: compaction.id }),
      dropsEvents: true,
    });
    return { rewindId, targetSequence: target, filesRestored: 0, filesDeleted: 0, skipped: [] };
  });
}
