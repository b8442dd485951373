import type { StoredEvent } from '../model/event.js';
import { GOAL_MEMBERS, type Goal } from '../model/goal.js';
import { isRecord, parseRawJson } from '../model/json.js';
import type { SessionMetadata } from '../model/metadata.js';

/** The nine fields of a spec, as the metadata and the payloads of spec events name them. */
export const SPEC_FIELDS = [
  'specId',
  'specFilePath',
  'specStatus',
  'specDraftModelId',
  'specDraftReasoning',
  'specUserComment',
  'specRejectReason',
  'specSourceSessionId',
  'specImplSessionId',
] as const satisfies readonly (keyof SessionMetadata)[];

/** The whole state of a spec; empty texts where there is nothing. */
export type SpecFields = { readonly [Name in (typeof SPEC_FIELDS)[number]]: string };

/** What spec and goal events say the metadata should hold; a member that is not there is not to be touched. */
export type SpecAndGoalChanges = { readonly [Name in keyof SpecFields]?: string | undefined } & {
  readonly goal?: Goal | undefined;
};

/**
 * Gives what the last spec event and the last goal event of a log say; empty where there is no such event.
 *
 * Both hold the whole state, so metadata that lag are put right by the events they have not seen.
 * @see FORMAT.md, 3, spec_…; RELIABILITY.md, 2.2, "re-derived from the last such event"
 */
export function specAndGoalAfter(events: Iterable<StoredEvent>): SpecAndGoalChanges {
  let spec: SpecAndGoalChanges = {};
  let goal: SpecAndGoalChanges = {};
  for (const event of events) {
    if (isSpecEvent(event)) spec = specOf(event) ?? spec;
    else if (isGoalEvent(event)) goal = goalOf(event) ?? goal;
  }
  return { ...spec, ...goal };
}

/**
 * Gives the changes to the metadata when events are dropped: what the kept events say, where a dropped one said
 * otherwise.
 *
 * Where no kept event says anything, the state is that from before the first record: a spec has no status, comment or
 * implementation, and no goal is set. What a session of a spec kind was created with stays, and so does a goal that was
 * there before the first goal event, since no event tells what it was.
 * @param kept - Oldest first; read once.
 * @param dropped - Oldest first; read once, before `kept`.
 * @see FAULTS.md, 19
 */
export function specAndGoalWithout(
  kept: Iterable<StoredEvent>,
  dropped: Iterable<StoredEvent>,
  sessionKind: string | undefined,
): SpecAndGoalChanges {
  let specDropped = false;
  let goalCameWith: string | undefined;
  for (const event of dropped) {
    if (isSpecEvent(event)) specDropped = true;
    else if (isGoalEvent(event)) goalCameWith ??= event.type;
  }
  if (!specDropped && goalCameWith === undefined) return {};
  const { goal, ...spec } = { goal: null, ...specAndGoalAfter(kept) };
  return {
    ...(specDropped ? { ...withoutSpec(sessionKind), ...spec } : {}),
    ...goalChange(goal, goalCameWith),
  };
}

function goalChange(kept: Goal | null | undefined, firstDropped: string | undefined): SpecAndGoalChanges {
  if (firstDropped === undefined) return {};
  if (kept !== null) return { goal: kept };
  return firstDropped === 'goal_created' ? { goal: undefined } : {};
}

function withoutSpec(sessionKind: string | undefined): SpecAndGoalChanges {
  const outcome = { specRejectReason: undefined, specImplSessionId: undefined };
  if (sessionKind === 'spec-impl') return { ...outcome, specStatus: 'approved' };
  const unrecorded = { ...outcome, specStatus: undefined, specUserComment: undefined };
  if (sessionKind === 'spec-draft') return unrecorded;
  return { ...unrecorded, ...Object.fromEntries(SPEC_FIELDS.map((name) => [name, undefined])) };
}

function isSpecEvent(event: StoredEvent): boolean {
  return event.type === 'spec_draft' || event.type === 'spec_approved' || event.type === 'spec_rejected';
}

function isGoalEvent(event: StoredEvent): boolean {
  return event.type === 'goal_created' || event.type === 'goal_updated' || event.type === 'goal_cleared';
}

/** Gives the state that a spec event holds, or undefined when its payload cannot be read as one. */
function specOf(event: StoredEvent): SpecAndGoalChanges | undefined {
  const payload = recordOf(event);
  if (payload === undefined) return undefined;
  const fields = SPEC_FIELDS.map((name) => [name, textOf(payload[name]) || undefined]);
  return { ...Object.fromEntries(fields), specStatus: event.type.slice('spec_'.length) };
}

function goalOf(event: StoredEvent): SpecAndGoalChanges | undefined {
  if (event.type === 'goal_cleared') return { goal: undefined };
  const payload = recordOf(event);
  if (payload === undefined || textOf(payload.objective) === '') return undefined;
  const members = GOAL_MEMBERS.map(([name, kind]) => [
    name,
    kind === 'integer' ? countOf(payload[name]) : textOf(payload[name]),
  ]);
  return { goal: Object.fromEntries(members) as unknown as Goal };
}

function recordOf(event: StoredEvent): Readonly<Record<string, unknown>> | undefined {
  const value = event.payload === undefined ? undefined : parseRawJson(event.payload);
  return isRecord(value) ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}
