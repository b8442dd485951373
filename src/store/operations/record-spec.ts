import { InvalidArgumentError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import { parseSessionId, type SessionId, trimSpace } from '../../model/ids.js';
import { encodeJson, isRecord, parseRawJson } from '../../model/json.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { SPEC_FIELDS, type SpecFields } from '../../plan/derive-state.js';
import type { StoreDeps } from '../base/deps.js';
import type { LockedSession } from '../parts/locked-session.js';
import { requireMetadata } from '../parts/metadata-file.js';
import { readAllEvents } from '../parts/read-session.js';
import { listSessions } from '../queries/list-sessions.js';
import { withSession, withSessionAsItIs } from '../recovery/session-lock.js';
import { anyEvent, appendEventUnless } from './append-events.js';
import { normalSpecStatus, publishWithEvent, startingMetadata } from './create-session.js';

/** The spec fields to set; a blank one keeps its value. */
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

/** What an implementation session is made of, and its first prompt. */
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

/** A session and the event that was appended to it. */
export interface SessionAndEvent {
  readonly session: SessionMetadata;
  readonly event: StoredEvent;
}

/** Appends `spec_<status>` with the whole state, then merges the fields into the metadata (FAULTS.md, 44). */
export async function recordSpec(deps: StoreDeps, sessionId: string, input: RecordSpecInput): Promise<SessionAndEvent> {
  const id = parseSessionId(sessionId);
  const specStatus = normalSpecStatus(input.specStatus);
  if (specStatus === undefined) {
    const given = JSON.stringify(input.specStatus ?? '');
    throw new InvalidArgumentError('specStatus', `${given} is no spec status`, 'Give draft, approved or rejected.');
  }
  return withSession(deps, id, (session) => {
    const fields = mergedFields(session.metadata, { ...input, specStatus });
    const payload = encodeJson(fields);
    const [event] = session.append([{ type: `spec_${specStatus}`, payload }], fields);
    return { session: session.metadata, event: event as StoredEvent };
  });
}

/** Finds the session that implements a spec of a source session, or null. */
export function findSpecImplementation(
  deps: StoreDeps,
  specId: string,
  sourceSessionId: string,
): SessionMetadata | null {
  const spec = trimSpace(specId);
  // Without one of them nothing is looked for, and the other is not judged (golden case spec/find-blank-first).
  if (spec === '' || trimSpace(sourceSessionId) === '') return null;
  return implementationOf(deps, spec, parseSessionId(sourceSessionId));
}

/**
 * Finds or makes the session that implements a spec, under the lock of the source; that lock is let go before an existing
 * one is written to, so that two sessions are never held.
 */
export async function ensureSpecImplementation(
  deps: StoreDeps,
  input: EnsureSpecImplementationInput,
): Promise<{ readonly session: SessionMetadata; readonly events: readonly StoredEvent[] }> {
  const specId = requireText(input.specId, 'specId');
  const source = parseSessionId(requireText(input.specSourceSessionId, 'specSourceSessionId'));
  const prompt = input.prompt ?? '';
  requireText(prompt, 'prompt');
  const { id, isNew } = await withSessionAsItIs(deps, source, (session) => {
    const found = implementationOf(deps, specId, source);
    return found === null
      ? { id: publishImplementation(session, { ...input, specId, prompt }), isNew: true }
      : { id: parseSessionId(found.sessionId), isNew: false };
  });
  if (id === source) {
    const message = `Session ${source} is its own source`;
    throw new InvalidArgumentError('specSourceSessionId', message, 'Name another session.');
  }
  if (!isNew) {
    const unless = anyEvent((event) => isPrompt(event, prompt));
    await appendEventUnless(deps, id, { input: promptInput(prompt), unless });
  }
  return { session: requireMetadata(deps, id).metadata, events: readAllEvents(deps, id) };
}

function mergedFields(metadata: SessionMetadata, input: RecordSpecInput): SpecFields {
  return Object.fromEntries(
    SPEC_FIELDS.map((name) => [name, trimSpace(input[name] ?? '') || (metadata[name] ?? '')]),
  ) as unknown as SpecFields;
}

function implementationOf(deps: StoreDeps, specId: string, source: SessionId): SessionMetadata | null {
  const isWanted = (session: SessionMetadata): boolean =>
    session.sessionKind === 'spec-impl' && session.specId === specId && session.specSourceSessionId === source;
  return listSessions(deps).sessions.find(isWanted) ?? null;
}

function publishImplementation(
  { deps, metadata: source }: LockedSession,
  { prompt, ...given }: EnsureSpecImplementationInput & { readonly prompt: string },
): SessionId {
  const metadata = startingMetadata(deps, {
    ...given,
    sessionKind: 'spec-impl',
    parentSessionId: source.sessionId,
    rootSessionId: trimSpace(given.rootSessionId ?? '') || (source.rootSessionId ?? source.sessionId),
    specStatus: 'approved',
  });
  const { type, payload } = promptInput(prompt);
  return parseSessionId(publishWithEvent(deps, metadata, { type, payload: encodeJson(payload) }).sessionId);
}

function promptInput(prompt: string): { readonly type: 'message'; readonly payload: Readonly<Record<string, string>> } {
  return { type: 'message', payload: { content: prompt, role: 'user' } };
}

/** Tells whether the user said exactly this. */
function isPrompt(event: StoredEvent, prompt: string): boolean {
  if (event.type !== 'message' || event.payload === undefined) return false;
  const payload = parseRawJson(event.payload);
  return isRecord(payload) && payload.role === 'user' && payload.content === prompt;
}

function requireText(text: string | undefined, name: string): string {
  const trimmed = trimSpace(text ?? '');
  if (trimmed === '') throw new InvalidArgumentError(name, `An implementation of a spec needs a ${name}`);
  return trimmed;
}
