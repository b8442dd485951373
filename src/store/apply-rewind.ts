import type { StoreDeps } from './deps.js';

/** What a restore did to the workspace, as it is stored in the marker. */
export interface RestoreReport {
  readonly targetSequence: number;
  readonly filesRestored: number;
  readonly filesDeleted: number;
  /** Paths that could not be brought back. */
  readonly skipped?: readonly string[];
}
export async function restoreToSequence(_d: StoreDeps, _id: string, _root: string, _n: number): Promise<RestoreReport> {
  throw new Error('stub');
}
export async function applyRewind(_d: StoreDeps, _id: string, _root: string, _n: number): Promise<RestoreReport> {
  throw new Error('stub');
}
export async function truncateEvents(_d: StoreDeps, _id: string, _n: number): Promise<void> {
  throw new Error('stub');
}
