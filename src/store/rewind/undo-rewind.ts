import { RewindNotFoundError } from '../../errors.js';
import type { EventRef, StoredEvent } from '../../model/event.js';
import { refOf } from '../../model/event-codec.js';
import { type EventIdentity, identityOf } from '../../model/event-identity.js';
import { parseSessionId } from '../../model/ids.js';
import type { RewindRecord } from '../../model/kept-record.js';
import { decodeIntent } from '../../model/rewind-record.js';
import type { RewindPlan } from '../../plan/rewind/rewind.js';
import { workSince } from '../../plan/rewind/undo.js';
import type { StoreDeps } from '../base/deps.js';
import { hashBytes } from '../parts/blob-store.js';
import { EventLog } from '../parts/event-log.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession } from '../parts/locked-session.js';
import { requireSession } from '../parts/session-folder.js';
import { withSession } from '../recovery/session-lock.js';
import { carryOut, type RewindResult } from './apply-rewind.js';
import { type PlannedRewind, planUnlessInterrupted, requireAllowed } from './planned-rewind.js';
import { recordsOf } from './rewind-history.js';
import { planUndoneFiles } from './undone-files.js';

/** How an undo is asked for. */
export interface UndoOptions {
  /** Which rewind, restore or undo; the latest when left out. */
  readonly rewindId?: string | undefined;
  readonly force?: boolean | undefined;
  /** Does what can be done, and reports the rest. */
  readonly allowPartial?: boolean | undefined;
  /** Where the files are now, absolute; else where they were. */
  readonly workspace?: string | undefined;
}

/** Plans an undo and does nothing. */
export async function previewUndo(deps: StoreDeps, sessionId: string, options: UndoOptions): Promise<RewindPlan> {
  const id = parseSessionId(sessionId);
  const paths = requireSession(deps, id);
  const log = new EventLog(deps, id, paths);
  return requireAllowed(await planUnlessInterrupted(log, () => planUndo({ deps, id, paths, log }, options))).plan;
}

/**
 * Undoes a rewind, a restore or an undo, and those that came after it. What came since is kept, so that the undo can be
 * undone (FORMAT.md, 6, "Undo").
 */
export async function undoRewind(deps: StoreDeps, sessionId: string, options: UndoOptions): Promise<RewindResult> {
  return withSession(deps, sessionId, async (session) => {
    const planned = await planUnlessInterrupted(session.log, () => {
      // As a restore, it works without metadata only in a folder that is named.
      if (options.workspace === undefined) session.document();
      return planUndo(session, options);
    });
    const { force, allowPartial } = options;
    return carryOut(session, requireAllowed(planned), { force, allowPartial, undoes: planned.rewindId });
  });
}

// What is recorded as one of these has a marker in the log.
const MARKED: ReadonlySet<string | undefined> = new Set(['rewind', 'undo']);

interface PlannedUndo extends PlannedRewind {
  readonly rewindId: string;
}

/** Plans an undo over what is there now; a workspace that will not do refuses it, and no file is in the plan then. */
export function planUndo(
  { deps, id: sessionId, paths, log }: Pick<LockedSession, 'deps' | 'id' | 'paths' | 'log'>,
  options: UndoOptions,
): PlannedUndo {
  const kept = new KeptRecords(deps, paths);
  const ids = kept.ids().filter((id) => kept.has(id));
  const rewindId = options.rewindId ?? ids.at(-1);
  if (rewindId === undefined || !ids.includes(rewindId)) throw new RewindNotFoundError(sessionId, options.rewindId);
  const own = kept.log(rewindId, sessionId);
  const [before, present] = [eventsOf(own), eventsOf(log)];
  const logOf = (id: string) => kept.log(id, sessionId);
  const laterIds = ids.filter((id) => id > rewindId);
  const keptLater = laterIds.map(logOf);
  const older = new OlderEvents(
    ids
      .filter((id) => id < rewindId)
      .map(logOf)
      .reverse(),
  );
  const recordOf = recordsOf(kept, ids, log);
  const since = workSince({
    sessionId,
    rewindId,
    isMarked: MARKED.has(kept.record(rewindId)?.kind),
    kept: own.events(),
    later: [...keptLater, log].map((each, at) => ({
      events: () => each.events(),
      left: () => leftBy(recordOf(laterIds[at - 1] ?? rewindId), ids, logOf),
    })),
    isOlder: (event) => older.has(event),
    hash: hashBytes,
  });
  const { workspace, files, uncovered, refusal } = planUndoneFiles(
    { deps, sessionId, paths, log, keptLater, since },
    options,
  );
  const last = [...before.values()].at(-1);
  const plan: RewindPlan = {
    sessionId,
    head: [...present.values()].at(-1)?.sequence ?? 0,
    target: last?.sequence ?? 0,
    targetEventId: last?.id ?? '',
    keepTarget: true,
    ...(workspace === undefined ? {} : { workspace: workspace.real }),
    dropped: notIn(before, present),
    returned: notIn(present, before),
    files,
    uncovered,
    openCalls: [],
    wholeTargets: [last?.sequence ?? 0, last?.sequence ?? 0],
    ...(since.doubt === undefined ? {} : { doubt: since.doubt }),
    complete:
      refusal === undefined &&
      since.doubt === undefined &&
      files.every(({ action }) => action !== 'impossible' && action !== 'conflict'),
  };
  return { plan, workspace, rewindId, refusal };
}

/** Gives the events of a log without its intent, in order, by what they are known by. */
function eventsOf(log: EventLog): ReadonlyMap<EventIdentity, EventRef> {
  const events = new Map<EventIdentity, EventRef>();
  for (const event of log.events()) {
    if (decodeIntent(event, log.sessionId) === undefined) events.set(identityOf(event, hashBytes), refOf(event));
  }
  return events;
}

/** Gives the events that were in the log when a record had been made: its kind tells which of them stayed. */
function* leftBy(
  { rewindId, kind, targetSequence, undoes }: RewindRecord,
  ids: readonly string[],
  logOf: (id: string) => EventLog,
): Generator<StoredEvent> {
  const isAll = kind === 'restore' || kind === 'undo';
  // An undo puts the log of what it undoes back; that of a compaction keeps its own.
  const source = kind === 'undo' && ids.includes(undoes) ? undoes : rewindId;
  for (const event of logOf(source).events()) if (isAll || event.sequence <= targetSequence) yield event;
}

function notIn(
  those: ReadonlyMap<EventIdentity, EventRef>,
  these: ReadonlyMap<EventIdentity, EventRef>,
): readonly EventRef[] {
  return [...these].flatMap(([identity, event]) => (those.has(identity) ? [] : [event]));
}

/**
 * The events of kept logs, each of which is as long as the log was: one is read only if those before it do not tell.
 */
class OlderEvents {
  readonly #unread: EventLog[];
  readonly #identities = new Set<EventIdentity>();

  /** @param logs - Newest first. */
  constructor(logs: readonly EventLog[]) {
    this.#unread = [...logs];
  }

  has(event: EventIdentity): boolean {
    for (;;) {
      if (this.#identities.has(event)) return true;
      const log = this.#unread.shift();
      if (log === undefined) return false;
      for (const item of log.scan()) {
        if (item.kind === 'event') this.#identities.add(identityOf(item.event, hashBytes));
      }
    }
  }
}
