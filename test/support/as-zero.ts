import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TempWorkspace } from './temp-workspace.js';

interface Line {
  readonly sequence: number;
  readonly type: string;
  readonly payload?: { readonly files?: readonly Entry[] };
}

interface Entry {
  readonly path: string;
  readonly blob?: string;
  readonly absent?: boolean;
}

/**
 * Rewinds `s` as Zero does, by bytes alone (FORMAT.md, 4): files back, the log cut, a marker with the next number after
 * the cut, `eventCount` lowered with it, and every blob deleted that the log no longer names.
 */
export function rewindAsZero(temp: TempWorkspace, target: number): void {
  const lines = temp.log().trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Line);
  const report = {
    targetSequence: target,
    ...restoreAsZero(temp, checkpointed(events.filter((e) => e.sequence > target))),
  };
  const kept = lines.filter((_, at) => (events[at]?.sequence ?? 0) <= target);
  const sequence = target + 1;
  const createdAt = temp.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
  const payload = { targetSequence: target, report };
  const marker = { id: `s:${sequence}`, sessionId: 's', sequence, type: 'session_rewind', createdAt, payload };
  writeFileSync(temp.path('events.jsonl'), `${[...kept, JSON.stringify(marker)].join('\n')}\n`);
  const metadata = { ...JSON.parse(temp.text('metadata.json')), eventCount: sequence, lastEventType: 'session_rewind' };
  writeFileSync(temp.path('metadata.json'), `${JSON.stringify(metadata, null, 2)}\n`);
  pruneAsZero(temp);
}

/** Deletes the blobs of `s` that no event in its log names. */
export function pruneAsZero(temp: TempWorkspace): void {
  const log = temp.log();
  for (const name of readdirSync(temp.path('checkpoints/blobs'))) {
    if (!log.includes(name)) rmSync(temp.path('checkpoints/blobs', name));
  }
}

function checkpointed(events: readonly Line[]): readonly Entry[] {
  const first = new Map<string, Entry>();
  for (const { type, payload } of events) {
    if (type !== 'session_checkpoint') continue;
    for (const entry of payload?.files ?? []) if (!first.has(entry.path)) first.set(entry.path, entry);
  }
  return [...first.values()];
}

function restoreAsZero(
  temp: TempWorkspace,
  entries: readonly Entry[],
): { readonly filesRestored: number; readonly filesDeleted: number } {
  let deleted = 0;
  for (const { path, blob, absent } of entries) {
    if (absent === true) {
      deleted += 1;
      rmSync(temp.at(path), { force: true });
    } else if (blob !== undefined) {
      mkdirSync(dirname(temp.at(path)), { recursive: true });
      writeFileSync(temp.at(path), readFileSync(temp.path('checkpoints/blobs', blob)));
    }
  }
  return { filesRestored: entries.length - deleted, filesDeleted: deleted };
}
