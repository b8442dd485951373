import type { StoredEvent } from '../model/event.js';
import type { SessionMetadata } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';

export interface RecordSpecInput {
  readonly specId?: string | undefined;
  readonly specFilePath?: string | undefined;
  readonly specStatus?: string | undefined;
  readonly specDraftModelId?: string | undefined;
  readonly specDraftReasoning?: string | undefined;
  readonly specUserComment?: string | undefined;
  readonly specRejectReason?: string | undefined;
  readonly specSourceSessionId?: string | undefined;
  readonly specImplSessionId?: string | undefined;
}

export interface EnsureSpecImplementationInput {
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly specId?: string | undefined;
  readonly specFilePath?: string | undefined;
  readonly specDraftModelId?: string | undefined;
  readonly specDraftReasoning?: string | undefined;
  readonly specUserComment?: string | undefined;
  readonly specSourceSessionId?: string | undefined;
  readonly rootSessionId?: string | undefined;
  readonly prompt?: string | undefined;
}

export interface SessionAndEvent {
  readonly session: SessionMetadata;
  readonly event: StoredEvent;
}

export async function recordSpec(
  _deps: StoreDeps,
  _sessionId: string,
  _input: RecordSpecInput,
): Promise<SessionAndEvent> {
  throw new Error('stub');
}
export function findSpecImplementation(
  _deps: StoreDeps,
  _specId: string,
  _sourceSessionId: string,
): SessionMetadata | null {
  throw new Error('stub');
}
export async function ensureSpecImplementation(
  _deps: StoreDeps,
  _input: EnsureSpecImplementationInput,
): Promise<{ readonly session: SessionMetadata; readonly events: readonly StoredEvent[] }> {
  throw new Error('stub');
}
