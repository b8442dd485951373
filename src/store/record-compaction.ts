import type { StoredEvent } from '../model/event.js';
import type { CompactionOptions, CompactionPlan } from '../plan/compaction.js';
import type { StoreDeps } from './deps.js';

export async function planSessionCompaction(
  _deps: StoreDeps,
  _sessionId: string,
  _options: CompactionOptions,
): Promise<CompactionPlan> {
  throw new Error('stub');
}
export async function recordCompaction(
  _deps: StoreDeps,
  _sessionId: string,
  _input: { readonly plan: CompactionPlan; readonly summary: string },
): Promise<StoredEvent> {
  throw new Error('stub');
}
