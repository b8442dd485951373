import type { CheckpointPayload, StoredEvent } from '../model/event.js';
import type { StoreDeps } from './deps.js';

export async function captureToolCheckpoint(
  _d: StoreDeps,
  _id: string,
  _root: string,
  _tool: string,
  _paths: readonly string[],
): Promise<StoredEvent | null> {
  throw new Error('stub');
}
export async function snapshotForCheckpoint(
  _d: StoreDeps,
  _id: string,
  _root: string,
  _tool: string,
  _paths: readonly string[],
): Promise<{ readonly ok: boolean; readonly payload: CheckpointPayload | null }> {
  throw new Error('stub');
}
