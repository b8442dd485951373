import type { StoredEvent } from '../../model/event.js';
import { parseSessionId } from '../../model/ids.js';
import type { KeptRecord, RewindRecord } from '../../model/kept-record.js';
import { decodeMarker, type RewindIntent } from '../../model/rewind-record.js';
import { formatInstant } from '../../model/time.js';
import type { StoreDeps } from '../base/deps.js';
import { timeOfId } from '../base/new-id.js';
import { EventLog } from '../parts/event-log.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession } from '../parts/locked-session.js';
import { surveyLog } from '../parts/log-survey.js';
import { requireSession } from '../parts/session-folder.js';

/**
 * Gives what can be undone, newest first. No kept log is read that has its record beside it, and nothing is written.
 */
export function rewindHistory(deps: StoreDeps, sessionId: string): readonly RewindRecord[] {
  const id = parseSessionId(sessionId);
  const paths = requireSession(deps, id);
  const kept = new KeptRecords(deps, paths);
  const log = new EventLog(deps, id, paths);
  const ids = kept.ids().filter((rewindId) => kept.has(rewindId));
  return ids
    .map(recordsOf(kept, ids, log))
    .map(historyOf)
    .reverse();
}

/** Gives what is said of a kept log: by the record beside it, or else by the logs. Nothing is written. */
export function recordsOf(kept: KeptRecords, ids: readonly string[], log: EventLog): (id: string) => KeptRecord {
  const made = new MissingRecords(kept, ids, log);
  return (id) => kept.record(id) ?? made.make(id);
}

/**
 * Gives records of the first version what later ones have: `record.json`, and names in `.zs/blobs` (FORMAT.md, 5).
 * Once.
 */
export function completeRecords(session: LockedSession): void {
  const kept = new KeptRecords(session.deps, session.paths);
  const records = kept.ids().filter((id) => kept.has(id));
  const made = new MissingRecords(kept, records, session.log);
  for (const id of records) {
    if (kept.record(id) !== undefined) continue;
    const record = made.make(id);
    session.blobs.keep(surveyLog(readable(kept.log(id, session.id)), session.id).blobs, () => true);
    kept.complete(record);
  }
}

/** Tells what kind of going back it was, by its marker and its intent. */
export function kindOf(
  marker: { readonly undoes: string } | undefined,
  intent: Pick<RewindIntent, 'filesOnly'> | undefined,
): RewindRecord['kind'] {
  if (marker === undefined) return intent === undefined ? 'cut' : 'restore';
  if (marker.undoes !== '') return 'undo';
  return intent?.filesOnly === true ? 'restore' : 'rewind';
}

interface FoundMarker {
  readonly createdAt: string;
  readonly target: number;
  readonly undoes: string;
}

/** Makes records from logs, for kept logs that have none beside them. */
class MissingRecords {
  readonly #kept: KeptRecords;
  readonly #ids: readonly string[];
  readonly #log: EventLog;
  #markers: ReadonlyMap<string, FoundMarker> | undefined;

  constructor(kept: KeptRecords, ids: readonly string[], log: EventLog) {
    this.#kept = kept;
    this.#ids = ids;
    this.#log = log;
  }

  make(rewindId: string): KeptRecord {
    const { sessionId } = this.#log;
    const found = surveyLog(readable(this.#kept.log(rewindId, sessionId)), sessionId);
    this.#markers ??= this.#readMarkers();
    const marker = this.#markers.get(rewindId);
    return {
      rewindId,
      createdAt: marker?.createdAt ?? formatInstant(timeOfId(rewindId)),
      kind: kindOf(marker, found.intent),
      targetSequence: marker?.target ?? found.intent?.target ?? 0,
      events: found.events,
      head: found.head,
      files: found.intent?.files.length ?? 0,
      undoes: marker?.undoes ?? '',
      high: Math.max(found.highest, found.highestIntent),
    };
  }

  // A marker may itself have been dropped since; then a later record holds it.
  #readMarkers(): ReadonlyMap<string, FoundMarker> {
    const markers = new Map<string, FoundMarker>();
    const { sessionId } = this.#log;
    for (const log of [this.#log, ...this.#ids.map((id) => this.#kept.log(id, sessionId))]) {
      for (const event of readable(log)) {
        const marker = event.type === 'session_rewind' ? decodeMarker(event) : undefined;
        if (marker === undefined || marker.rewindId === '') continue;
        const { rewindId, targetSequence, undoes } = marker;
        markers.set(rewindId, { createdAt: event.createdAt, target: targetSequence, undoes });
      }
    }
    return markers;
  }
}

/** Gives the events of a log, damaged lines left out: what can be told of it is told. */
function* readable(log: EventLog): Generator<StoredEvent> {
  for (const item of log.scan()) if (item.kind === 'event') yield item.event;
}

function historyOf({ high: _, ...record }: KeptRecord): RewindRecord {
  return record;
}
