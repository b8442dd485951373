import type { StoredEvent } from '../model/event.js';
import type { SessionMetadata } from '../model/metadata.js';

/** Whether a run starts a session, goes on with one, or goes on in a copy. */
export type ExecMode = 'new' | 'resume' | 'fork';

export interface PreparedExec {
  readonly mode: ExecMode;
  readonly session: SessionMetadata;
  /** Replayed events; for a fork those of the parent, under their own ids. */
  readonly contextEvents: readonly StoredEvent[];
}

export function formatExecPrompt(_prompt: string, _prepared: PreparedExec): string {
  throw new Error('stub');
}
