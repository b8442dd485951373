import type { SessionMetadata } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';

/** What a child session can be made with. */
export interface ChildInput {
  readonly sessionId?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  readonly depth?: number | undefined;
  readonly agentName?: string | undefined;
  readonly taskId?: string | undefined;
  readonly prompt?: string | undefined;
}

export async function createChild(_deps: StoreDeps, _parentId: string, _input: ChildInput): Promise<SessionMetadata> {
  throw new Error('stub');
}
