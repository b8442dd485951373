import { sameFile } from '../../fs/file-system.js';
import type { StoredEvent } from '../../model/event.js';
import { encodeEventLine } from '../../model/event-codec.js';
import type { BlobHash } from '../../model/ids.js';
import type { KeptRecord } from '../../model/kept-record.js';
import {
  decodeIntent,
  encodeIntent,
  encodeMarker,
  encodeRestore,
  type IntendedChange,
  type RestoreReport,
  type RewindIntent,
  workOf,
} from '../../model/rewind-record.js';
import { specAndGoalBetween } from '../../plan/derive-state.js';
import { isReachable } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { hashBytes } from '../parts/blob-store.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession, MetadataChanges } from '../parts/locked-session.js';
import { blobsNamedBy, type LogSurvey, surveyLog } from '../parts/log-survey.js';
import { type KeepsEvent, type NewLog, rewriteLog } from '../parts/rewrite-log.js';
import { RollBack, rollBack } from '../recovery/roll-back.js';
import { FileChanges, syncPresent } from '../workspace/change-files.js';
import type { Workspace } from '../workspace/workspace.js';
import { completeRecords, kindOf } from './rewind-history.js';

/** One change of log and files, all or nothing. */
interface RewindTransaction {
  readonly target: number;
  readonly changes: readonly FileChange[];
  readonly workspace: Workspace | undefined;
  /** Files that are as they are to be, resolved: they have to be so after a power cut, too. */
  readonly settled?: readonly string[] | undefined;
  /** Tells which events stay in the log. */
  readonly keeps: KeepsEvent;
  /** What the marker says; undefined writes none. */
  readonly marker:
    | ((rewindId: string) => { readonly report: RestoreReport; readonly undoes: string | undefined })
    | undefined;
  /** A kept record whose log, less its intent, takes the place of the present one. */
  readonly restoreLog?: string | undefined;
  readonly dropsEvents: boolean;
}

interface TransactionResult {
  readonly rewindId: string;
}

/**
 * Carries out a rewind, an undo, a restore or a cut. Order (FORMAT.md, 6): intent, synced · files staged, renamed,
 * synced · the old log kept · one rename of a log that already holds the marker, which is the commit · metadata. What
 * fails or is interrupted before the commit is rolled back. Where no event goes, a checkpoint with what the files were
 * stands in front of the marker, under the intent's number.
 */
export function runTransaction(session: LockedSession, transaction: RewindTransaction): TransactionResult {
  session.assertMayRewrite();
  const kept = new KeptRecords(session.deps, session.paths);
  const rewindId = kept.freshId();
  const counted = session.metadataOrNone()?.eventCount ?? 0;
  const tail = session.sealedTail(counted);
  completeRecords(session);
  const survey = surveyLog(session.log.events(), session.id);
  // Zero may have lowered what is counted, and uses numbers again; we never do (FORMAT.md, 5).
  const next = session.nextSequence(tail, Math.max(counted, survey.highest, kept.high()));
  const { changes, workspace, settled = [] } = transaction;
  session.blobs.restore(neededBlobs(session, transaction));
  if (workspace !== undefined) syncPresent(session, workspace, settled);
  const run = new RunningTransaction(session, transaction, { rewindId, survey, next });
  if (changes.length === 0 || workspace === undefined) run.commitAlone();
  else run.changeAndCommit(workspace);
  return { rewindId };
}

/** Takes the intent of an interrupted rewind out of the log, wherever it stands; the log with it is kept. */
export function takeIntentOut(session: LockedSession, intent: RewindIntent): void {
  const kept = new KeptRecords(session.deps, session.paths);
  const id = kept.freshId();
  // The record of what never reached its commit is not one to undo; a fresh one holds the log and the contents.
  kept.discard(intent.id);
  completeRecords(session);
  const { events, head, highest, blobs } = surveyLog(session.log.events(), session.id);
  const { target: targetSequence, files } = intent;
  const createdAt = session.stamp();
  const record = { rewindId: id, createdAt, kind: kindOf(undefined, intent), targetSequence, undoes: '' };
  // The intent's own sequence is free again.
  kept.keep({ ...record, events, head, files: files.length, high: highest });
  const newLog: NewLog = { source: session.log, keeps: () => true, added: [] };
  keepBlobs(session, blobs, newLog);
  rewriteLog(session, newLog);
}

interface Begun {
  readonly intent: RewindIntent;
  /** The event that announces it. */
  readonly announcement: StoredEvent;
}

/** A transaction whose session is ready for it. */
class RunningTransaction {
  readonly #session: LockedSession;
  readonly #transaction: RewindTransaction;
  readonly #rewindId: string;
  /** Of the log before anything was announced. */
  readonly #survey: LogSurvey;
  /** The first sequence that is free. */
  readonly #next: number;
  readonly #kept: KeptRecords;

  constructor(
    session: LockedSession,
    transaction: RewindTransaction,
    begins: { readonly rewindId: string; readonly survey: LogSurvey; readonly next: number },
  ) {
    this.#session = session;
    this.#transaction = transaction;
    this.#rewindId = begins.rewindId;
    this.#survey = begins.survey;
    this.#next = begins.next;
    this.#kept = new KeptRecords(session.deps, session.paths);
  }

  // Without files to change there is no intent: what was kept for a commit that did not come is of no use.
  commitAlone(): void {
    const { deps, paths } = this.#session;
    const before = deps.fs.lstat(paths.events);
    try {
      this.#commit();
    } catch (error) {
      if (sameFile(deps.fs.lstat(paths.events), before)) this.#kept.discard(this.#rewindId);
      throw error;
    }
  }

  changeAndCommit(workspace: Workspace): void {
    // An intent knows each file by its one name.
    const changes = this.#transaction.changes.map((change) => ({ ...change, path: change.resolved }));
    const paths = changes.map(({ path }) => path);
    const files = new FileChanges(this.#session, workspace, { id: this.#rewindId, paths });
    const reachable = changes.filter(isReachable);
    // The present content is made durable and stored before the first file is touched.
    syncPresent(
      this.#session,
      workspace,
      reachable.map(({ path }) => path),
    );
    const begun = this.#announce(
      workspace,
      changes.map((change) => files.keep(change)),
    );
    const changed = new Set<string>();
    try {
      files.make(changes, (path) => changed.add(path));
      // Before the commit: nobody would come back for what a crash leaves after it.
      for (const { path, wanted } of changes) {
        if (wanted.kind === 'absent') files.removeEmptyFolders(path, wanted.newDirs);
      }
      this.#commit(begun);
    } catch (error) {
      this.#rollBack(new RollBack(this.#session, begun.intent, workspace), changed, error);
      throw error;
    }
  }

  #announce(workspace: Workspace, files: readonly IntendedChange[]): Begun {
    const session = this.#session;
    const { target, marker, restoreLog, dropsEvents } = this.#transaction;
    const intent: RewindIntent = {
      id: this.#rewindId,
      sessionId: session.id,
      target,
      workspace: workspace.named,
      files,
      undoes: restoreLog,
      filesOnly: restoreLog === undefined && (!dropsEvents || marker === undefined),
      // With it recovery knows an intent of ours from one that came with a copy of the log (FORMAT.md, 5).
      log: session.log.identity(),
    };
    const [announcement] = session.numbered(
      [{ type: 'session_checkpoint', payload: encodeIntent(intent) }],
      this.#next,
    ) as [StoredEvent];
    session.assertHeld();
    session.log.append(encodeEventLine(announcement));
    return { intent, announcement };
  }

  #commit(begun?: Begun): void {
    const session = this.#session;
    const { keeps, restoreLog, changes, dropsEvents } = this.#transaction;
    const added = this.#addedEvents(begun);
    if (dropsEvents || changes.length > 0 || restoreLog !== undefined) {
      const newLog: NewLog =
        restoreLog === undefined
          ? { source: session.log, keeps, added }
          : { source: this.#kept.log(restoreLog, session.id), keeps: () => true, added };
      const announced = begun === undefined ? [] : blobsNamedBy(begun.announcement);
      this.#kept.keep(this.#record(added, begun));
      keepBlobs(session, [...this.#survey.blobs, ...announced], newLog);
      rewriteLog(session, newLog);
    } else {
      for (const event of added) session.log.append(encodeEventLine(event));
    }
    if (added.length === 0) return;
    const changesOfState = dropsEvents || restoreLog !== undefined;
    session.recordAppended(added, changesOfState ? this.#derivedState() : {});
  }

  /** What a history is to say of the commit. */
  #record(added: readonly StoredEvent[], begun: Begun | undefined): KeptRecord {
    const { marker, target } = this.#transaction;
    const says = marker?.(this.#rewindId);
    const undoes = says?.undoes ?? '';
    return {
      rewindId: this.#rewindId,
      createdAt: added.at(-1)?.createdAt ?? this.#session.stamp(),
      kind: kindOf(says === undefined ? undefined : { undoes }, begun?.intent),
      targetSequence: says?.report.targetSequence ?? target,
      events: this.#survey.events,
      head: this.#survey.head,
      files: begun?.intent.files.length ?? 0,
      undoes,
      // Without a marker the intent is taken off again, and its sequence is free.
      high: says !== undefined && begun !== undefined ? begun.announcement.sequence : this.#survey.highest,
    };
  }

  // Spec and goal follow the events that are left (FAULTS.md, 19); an undo may also bring some back.
  #derivedState(): MetadataChanges {
    const session = this.#session;
    const metadata = session.metadataOrNone();
    if (metadata === undefined) return {};
    const before = this.#kept.log(this.#rewindId, session.id);
    return specAndGoalBetween(before.events(), session.log.events(), metadata, hashBytes);
  }

  /** What stands behind the lines that stay: the marker, after what the files were where no event goes. */
  #addedEvents(begun: Begun | undefined): readonly StoredEvent[] {
    const { marker, restoreLog, dropsEvents } = this.#transaction;
    if (marker === undefined) return [];
    const rewindId = this.#rewindId;
    const payload = encodeMarker({ ...marker(rewindId), rewindId });
    const sequence = begun === undefined ? this.#next : this.#next + 1;
    const events = this.#session.numbered([{ type: 'session_rewind', payload }], sequence);
    if (begun === undefined || dropsEvents || restoreLog !== undefined) return events;
    return [{ ...begun.announcement, payload: encodeRestore(begun.intent.files) }, ...events];
  }

  /** Rolls back at once what failed; where that is not possible the next command tries again. */
  #rollBack(back: RollBack, changed: ReadonlySet<string>, cause: unknown): void {
    const session = this.#session;
    let reason: string;
    try {
      session.assertHeld();
      const result = rollBack(back, changed);
      if (result.kind === 'rolledBack') return;
      reason = [result.reason, ...result.paths].join(' ');
    } catch (error) {
      reason = (error as Error).message;
    }
    const failed = (cause as Error).message;
    const message = `The ${workOf(back.intent)} failed (${failed}) and was not taken back at once: ${reason}`;
    session.deps.warn({ code: 'REWIND_RECOVERED', sessionId: session.id, message });
  }
}

/** The blobs that the files and the log of a transaction need: Zero may have pruned them meanwhile. */
function neededBlobs(session: LockedSession, { changes, restoreLog }: RewindTransaction): ReadonlySet<BlobHash> {
  const kept = new KeptRecords(session.deps, session.paths);
  const source = restoreLog === undefined ? [] : kept.log(restoreLog, session.id).events();
  const needed = new Set(surveyLog(source, session.id).blobs);
  for (const { wanted } of changes) if (wanted.kind === 'stored' && wanted.hash !== undefined) needed.add(wanted.hash);
  return needed;
}

/** Makes sure of the blobs that the present log names, before another takes its place. */
function keepBlobs(session: LockedSession, named: Iterable<BlobHash>, newLog: NewLog): void {
  let staying: ReadonlySet<BlobHash> | undefined;
  const stays = (hash: BlobHash): boolean => {
    staying ??= blobsOf(session, newLog);
    return staying.has(hash);
  };
  const { length: lost } = session.blobs.keep(named, stays);
  if (lost === 0) return;
  const what = lost === 1 ? '1 file content that the log names is' : `${lost} file contents that the log names are`;
  const message = `${what} missing or altered, and so not kept with it`;
  session.deps.warn({ code: 'BLOB_NOT_KEPT', sessionId: session.id, message });
}

function blobsOf(session: LockedSession, { source, keeps, added }: NewLog): ReadonlySet<BlobHash> {
  const staying = function* (): Generator<StoredEvent> {
    for (const event of source.events()) {
      if (keeps(event) && decodeIntent(event, session.id) === undefined) yield event;
    }
    yield* added;
  };
  return surveyLog(staying(), session.id).blobs;
}
