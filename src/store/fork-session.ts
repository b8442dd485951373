import type { SessionMetadata } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';

/** What a fork can be made with; what is left out comes from the parent. */
export interface ForkInput {
  readonly sessionId?: string | undefined;
  /** `fork` (the default) or `side`. */
  readonly sessionKind?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  /** The last sequence that is copied; 0 copies none. All events when left out. */
  readonly at?: number | undefined;
}

export async function forkSession(_deps: StoreDeps, _parentId: string, _input: ForkInput): Promise<SessionMetadata> {
  throw new Error('stub');
}
