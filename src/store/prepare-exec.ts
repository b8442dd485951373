import type { PreparedExec } from '../plan/exec-prompt.js';
import type { StoreDeps } from './deps.js';

export interface PrepareExecOptions {
  readonly sessionId?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  readonly depth?: number | undefined;
  readonly callingSessionId?: string | undefined;
  readonly callingToolUseId?: string | undefined;
  readonly agentName?: string | undefined;
  readonly taskId?: string | undefined;
  readonly resume?: string | undefined;
  readonly resumeLatest?: boolean | undefined;
  readonly fork?: string | undefined;
}

export async function prepareExec(_deps: StoreDeps, _options: PrepareExecOptions): Promise<PreparedExec> {
  throw new Error('stub');
}
