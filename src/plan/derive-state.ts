import type { StoredEvent } from '../model/event.js';
import { type EventIdentity, type HashBytes, identityOf } from '../model/event-identity.js';
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

/** What the last spec and the last goal event say. Both hold the whole state, so metadata that lag are put right. */
export function specAndGoalAfter(events: Iterable<StoredEvent>): SpecAndGoalChanges {
  const { spec, goal } = lastSaid(events, () => ''); // nothing is compared
  return { ...spec.changes, ...goal.changes };
}

/**
 * What becomes of spec and goal in the metadata when one log takes the place of another, as by a rewind: what the new
 * log says, where its last such event is another (FORMAT.md, 5, "Goal and spec"; FAULTS.md, 19).
 *
 * Tokens and continuations are in no event, so they stay as long as it is the same goal, by when it was created. Where
 * the new log says nothing, the state is that from before the first record. What a session of a spec kind was created
 * with stays, and so does a goal from before the first goal event, since no event tells what it was.
 */
export function specAndGoalBetween(
  before: Iterable<StoredEvent>,
  after: Iterable<StoredEvent>,
  { sessionKind, goal }: Pick<SessionMetadata, 'sessionKind' | 'goal'>,
  hash: HashBytes,
): SpecAndGoalChanges {
  const [old, now] = [lastSaid(before, hash), lastSaid(after, hash)];
  return {
    ...(now.spec.by === old.spec.by ? {} : { ...withoutSpec(sessionKind), ...now.spec.changes }),
    ...(now.goal.by === old.goal.by ? {} : goalChange(old.firstGoalEvent, now.goal, goal)),
  };
}

/** What a log says of spec or goal, and the event that does; undefined where none does. */
interface Said {
  readonly by: EventIdentity | undefined;
  readonly changes: SpecAndGoalChanges;
}

function lastSaid(
  events: Iterable<StoredEvent>,
  hash: HashBytes,
): { readonly spec: Said; readonly goal: Said; readonly firstGoalEvent: string | undefined } {
  let spec: Said = { by: undefined, changes: {} };
  let goal: Said = spec;
  let firstGoalEvent: string | undefined;
  for (const event of events) {
    if (isSpecEvent(event)) {
      const changes = specOf(event);
      if (changes !== undefined) spec = { by: identityOf(event, hash), changes };
    } else if (isGoalEvent(event)) {
      firstGoalEvent ??= event.type;
      const changes = goalOf(event);
      if (changes !== undefined) goal = { by: identityOf(event, hash), changes };
    }
  }
  return { spec, goal, firstGoalEvent };
}

function goalChange(
  firstBefore: string | undefined,
  { by, changes }: Said,
  present: Goal | undefined,
): SpecAndGoalChanges {
  if (by === undefined) return firstBefore === 'goal_created' ? { goal: undefined } : {};
  const { goal } = changes;
  if (goal === undefined || goal.createdAt !== present?.createdAt) return { goal };
  const { tokensUsed = 0, continuationCount = 0 } = present;
  return { goal: { ...goal, tokensUsed, continuationCount } };
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

/** Undefined when the payload cannot be read as the state of a spec. */
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

function recordOf({ payload }: StoredEvent): Readonly<Record<string, unknown>> | undefined {
  const value = payload === undefined ? undefined : parseRawJson(payload);
  return isRecord(value) ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}
