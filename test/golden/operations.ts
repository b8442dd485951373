import {
  type CompactionPlan,
  type CreateInput,
  checkpointsEnabled,
  compactionPayloadFromPlan,
  defaultRoot,
  type EventInput,
  type EventType,
  formatExecPrompt,
  isResumableKind,
  type PreparedExec,
  rawJson,
  rawJsonText,
  rehydrateEvents,
  type SessionStore,
  type StoredEvent,
  validSessionId,
} from '../../src/index.js';
import { type ExactJson, ExactObject, exactText, isList, toPlain } from './exact-json.js';
import { readExecPrompt } from './exec-prompt.js';
import { refuseUnknown } from './golden-case.js';

/** What a call works on. */
export interface OperationContext {
  readonly store: SessionStore;
  readonly env: Readonly<Record<string, string>>;
}

export type Operation = (context: OperationContext, args: Arguments) => unknown;

/** One recorded operation: the members that its arguments may have, and the call that it stands for. */
interface OperationSpec {
  readonly args: readonly string[];
  readonly call: Operation;
}

const METADATA = [
  ...['sessionId', 'sessionKind', 'title', 'cwd', 'modelId', 'provider', 'tag', 'depth', 'parentSessionId'],
  ...['rootSessionId', 'agentName', 'taskId', 'forkedFromEventId', 'forkedFromSequence', 'spawnedFromEventId'],
  ...['spawnedFromSequence', 'specId', 'specFilePath', 'specStatus', 'specDraftModelId', 'specDraftReasoning'],
  ...['specUserComment', 'specRejectReason', 'specSourceSessionId', 'specImplSessionId', 'goal'],
];
const SPEC = METADATA.filter((name) => name.startsWith('spec'));
const EVENT = ['type', 'payload', 'payloadRaw'];
const STORED_EVENT = ['id', 'sessionId', 'sequence', 'type', 'createdAt', 'payload'];
const PLAN = [
  ...['sessionId', 'preserveLast', 'compactableCount', 'preservedCount', 'compactableEvents', 'preservedEvents'],
  ...['summaryPrompt', 'promptChars', 'truncated'],
];
const RUN = ['sessionId', 'title', 'cwd', 'modelId', 'provider', 'tag'];
const CAPTURE = ['sessionId', 'workspaceRoot', 'tool', 'paths'];
const RESTORE = ['sessionId', 'workspaceRoot', 'targetSequence'];

/** Every recorded operation (README.md, "Steps") and the one call of the library that it stands for. */
const OPERATIONS: Readonly<Record<string, OperationSpec>> = {
  create: { args: METADATA, call: ({ store }, a) => store.create(a.rest<CreateInput>()) },
  get: { args: ['sessionId'], call: ({ store }, a) => store.get(a.text('sessionId')) },
  list: { args: [], call: ({ store }) => store.list() },
  listResumable: { args: [], call: ({ store }) => store.listResumable() },
  latest: { args: [], call: ({ store }) => store.latest() },
  latestResumable: { args: [], call: ({ store }) => store.latestResumable() },
  fork: {
    args: ['parentSessionId', 'sessionKind', ...RUN],
    call: ({ store }, a) => store.fork(a.text('parentSessionId'), a.rest('parentSessionId')),
  },
  createChild: {
    args: ['parentSessionId', 'depth', 'agentName', 'taskId', 'prompt', ...RUN],
    call: ({ store }, a) => store.createChild(a.text('parentSessionId'), a.rest('parentSessionId')),
  },
  listChildren: { args: ['parentSessionId'], call: ({ store }, a) => store.listChildren(a.text('parentSessionId')) },
  lineage: { args: ['sessionId'], call: ({ store }, a) => store.lineage(a.text('sessionId')) },
  tree: { args: ['rootSessionId'], call: ({ store }, a) => store.tree(a.text('rootSessionId')) },
  appendEvent: {
    args: ['sessionId', ...EVENT],
    call: ({ store }, a) => store.appendEvent(a.text('sessionId'), a.event()),
  },
  appendEvents: {
    args: ['sessionId', 'events'],
    call: ({ store }, a) =>
      store.appendEvents(
        a.text('sessionId'),
        a.list('events', EVENT).map((event) => event.event()),
      ),
  },
  appendEventUnlessExists: {
    args: ['sessionId', 'predicate', ...EVENT],
    call: ({ store }, a) => store.appendEventUnlessExists(a.text('sessionId'), a.event(), a.predicate()),
  },
  readEvents: { args: ['sessionId'], call: ({ store }, a) => store.readEvents(a.text('sessionId')) },
  readRehydratedEvents: {
    args: ['sessionId'],
    call: ({ store }, a) => store.readRehydratedEvents(a.text('sessionId')),
  },
  rehydrateEvents: { args: ['events'], call: (_, a) => rehydrateEvents(a.storedEvents('events')) },
  planRewind: {
    args: ['sessionId', 'targetSequence', 'targetEventId', 'keepTarget'],
    call: ({ store }, a) => store.planRewind(a.text('sessionId'), a.rest('sessionId')),
  },
  applyRewind: {
    args: RESTORE,
    call: ({ store }, a) => store.applyRewind(a.text('sessionId'), a.text('workspaceRoot'), a.count('targetSequence')),
  },
  restoreToSequence: {
    args: RESTORE,
    call: ({ store }, a) =>
      store.restoreToSequence(a.text('sessionId'), a.text('workspaceRoot'), a.count('targetSequence')),
  },
  truncateEvents: {
    args: ['sessionId', 'keepThroughSequence'],
    call: ({ store }, a) => store.truncateEvents(a.text('sessionId'), a.count('keepThroughSequence')),
  },
  planCompaction: {
    args: ['sessionId', 'preserveLast', 'maxPromptChars', 'skipPrompt'],
    call: async ({ store }, a) => comparablePlan(await store.planCompaction(a.text('sessionId'), a.rest('sessionId'))),
  },
  recordCompaction: {
    args: ['sessionId', 'summary', 'plan'],
    call: ({ store }, a) =>
      store.recordCompaction(a.text('sessionId'), { summary: a.text('summary'), plan: a.compactionPlan() }),
  },
  compactionPayloadFromPlan: {
    args: ['summary', 'plan'],
    call: (_, a) => compactionPayloadFromPlan(a.text('summary'), a.compactionPlan()),
  },
  captureToolCheckpoint: {
    args: CAPTURE,
    call: ({ store }, a) =>
      store.captureToolCheckpoint(a.text('sessionId'), a.text('workspaceRoot'), a.text('tool'), a.texts('paths')),
  },
  snapshotForCheckpoint: {
    args: CAPTURE,
    call: ({ store }, a) =>
      store.snapshotForCheckpoint(a.text('sessionId'), a.text('workspaceRoot'), a.text('tool'), a.texts('paths')),
  },
  checkpointsEnabled: {
    args: [],
    call: ({ store, env }) => {
      // Two ways to ask one question: the store's and the function's.
      if (store.checkpointsEnabled() !== checkpointsEnabled(env)) throw new Error('checkpointsEnabled has two answers');
      return store.checkpointsEnabled();
    },
  },
  updateTitle: {
    args: ['sessionId', 'title'],
    call: ({ store }, a) => store.updateTitle(a.text('sessionId'), a.text('title')),
  },
  recordSpec: {
    args: ['sessionId', ...SPEC],
    call: ({ store }, a) => store.recordSpec(a.text('sessionId'), a.rest('sessionId')),
  },
  findSpecImplementation: {
    args: ['specId', 'specSourceSessionId'],
    call: ({ store }, a) => store.findSpecImplementation(a.text('specId'), a.text('specSourceSessionId')),
  },
  ensureSpecImplementation: {
    args: ['title', 'cwd', 'modelId', 'provider', 'rootSessionId', 'prompt', ...SPEC],
    call: ({ store }, a) => store.ensureSpecImplementation(a.rest()),
  },
  prepareExec: {
    args: [
      ...['depth', 'callingSessionId', 'callingToolUseId', 'agentName', 'taskId', 'resume', 'resumeLatest', 'fork'],
      ...RUN,
    ],
    call: ({ store }, a) => store.prepareExec(a.rest()),
  },
  formatExecPrompt: {
    args: ['prompt', 'mode', 'session', 'contextEvents'],
    call: (_, a) => {
      const prepared = { ...a.rest<PreparedExec>('contextEvents'), contextEvents: a.storedEvents('contextEvents') };
      return readExecPrompt(formatExecPrompt(a.text('prompt'), prepared), a.text('prompt'));
    },
  },
  validSessionId: { args: ['sessionId'], call: (_, a) => validSessionId(a.text('sessionId')) },
  isResumableKind: { args: ['sessionKind'], call: (_, a) => isResumableKind(a.text('sessionKind')) },
  defaultRoot: {
    args: ['env'],
    call: ({ env }, a) => defaultRoot(a.rest<{ env?: Record<string, string> }>().env ?? env, env.HOME),
  },
  updateTitleIfCurrent: {
    args: ['sessionId', 'expected', 'title'],
    call: ({ store }, a) => store.updateTitleIfCurrent(a.text('sessionId'), a.text('expected'), a.text('title')),
  },
  updateModel: {
    args: ['sessionId', 'modelId'],
    call: ({ store }, a) => store.updateModel(a.text('sessionId'), a.text('modelId')),
  },
  createGoal: {
    args: ['sessionId', 'objective', 'tokenBudget'],
    call: ({ store }, a) => store.createGoal(a.text('sessionId'), a.text('objective'), a.count('tokenBudget')),
  },
  editGoal: {
    args: ['sessionId', 'objective', 'tokenBudget'],
    call: ({ store }, a) => store.editGoal(a.text('sessionId'), a.text('objective'), a.count('tokenBudget')),
  },
  updateGoal: {
    args: ['sessionId', 'status', 'reason'],
    call: ({ store }, a) => store.updateGoal(a.text('sessionId'), a.text('status'), a.text('reason')),
  },
  clearGoal: { args: ['sessionId'], call: ({ store }, a) => store.clearGoal(a.text('sessionId')) },
  addGoalUsage: {
    args: ['sessionId', 'tokens'],
    call: ({ store }, a) => store.addGoalUsage(a.text('sessionId'), a.count('tokens')),
  },
  pauseGoalIfActive: {
    args: ['sessionId', 'reason'],
    call: ({ store }, a) => store.pauseGoalIfActive(a.text('sessionId'), a.text('reason')),
  },
  reserveGoalContinuation: {
    args: ['sessionId'],
    call: ({ store }, a) => store.reserveGoalContinuation(a.text('sessionId')),
  },
  resetGoalContinuations: {
    args: ['sessionId'],
    call: ({ store }, a) => store.resetGoalContinuations(a.text('sessionId')),
  },
};

/**
 * Gives the call that an operation stands for, its arguments read.
 * @throws Error for an operation that is not in the table, and for an argument that it does not take.
 */
export function operationFor(op: string, args: ExactObject): (context: OperationContext) => unknown {
  const spec = Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
  if (spec === undefined) throw new Error(`unknown operation: ${op}`);
  refuseUnknown(args, spec.args, `the arguments of ${op}`);
  const read = new Arguments(args);
  return (context) => spec.call(context, read);
}

/** The arguments of one call. One that is left out is the empty value of its type (README.md, "Steps"). */
class Arguments {
  readonly #json: ExactObject;

  constructor(json: ExactObject) {
    this.#json = json;
  }

  text(name: string): string {
    return this.#typed(name, 'string', '');
  }

  count(name: string): number {
    return this.#typed(name, 'number', 0);
  }

  texts(name: string): readonly string[] {
    return (toPlain(this.#json.get(name) ?? []) as readonly unknown[]).map(String);
  }

  /** Gives all arguments, less some, as they stand. */
  rest<T>(...without: readonly string[]): T {
    return toPlain(new ExactObject(this.#json.members.filter(([name]) => !without.includes(name)))) as T;
  }

  list(name: string, known: readonly string[]): readonly Arguments[] {
    const items = this.#json.get(name) ?? [];
    if (!isList(items)) throw new Error(`${name} is no list`);
    return items.map((item) => record(item, name, known));
  }

  /** Gives an event that is to be appended. */
  event(): EventInput {
    const type = this.text('type') as EventType;
    const raw = this.#json.get('payloadRaw');
    if (raw === undefined) return { type, payload: toPlain(this.#json.get('payload') ?? null) };
    if (this.#json.get('payload') !== undefined) throw new Error('an event has payload and payloadRaw');
    return { type, payload: rawJson(this.text('payloadRaw')) };
  }

  /** Gives events that were read before; their payloads keep their spelling. */
  storedEvents(name: string): readonly StoredEvent[] {
    return this.list(name, STORED_EVENT).map((event) => {
      const payload = event.#json.get('payload') ?? null;
      return { ...event.rest<StoredEvent>(), payload: payload === null ? undefined : rawJson(exactText(payload)) };
    });
  }

  /** Gives a plan as a caller hands it in. */
  compactionPlan(): CompactionPlan {
    return record(this.#json.get('plan') ?? null, 'plan', PLAN).rest<CompactionPlan>();
  }

  /** Gives the condition: some event has this type and a payload with this text in it, as far as they are given. */
  predicate(): ((events: readonly StoredEvent[]) => boolean) | undefined {
    const json = this.#json.get('predicate');
    if (json === undefined) return undefined;
    const wanted = record(json, 'predicate', ['type', 'payloadContains']).rest<{
      type?: string;
      payloadContains?: string;
    }>();
    return (events) =>
      events.some(
        ({ type, payload }) =>
          (wanted.type === undefined || wanted.type === type) &&
          rawJsonText(payload ?? rawJson('')).includes(wanted.payloadContains ?? ''),
      );
  }

  #typed<T>(name: string, type: string, empty: T): T {
    const value = toPlain(this.#json.get(name) ?? null) ?? empty;
    if (typeof value !== type) throw new Error(`${name} is no ${type}`);
    return value as T;
  }
}

function record(json: ExactJson, name: string, known: readonly string[]): Arguments {
  if (!(json instanceof ExactObject)) throw new Error(`${name} is no object`);
  refuseUnknown(json, known, name);
  return new Arguments(json);
}

// What depends on wording is recorded as null; that it holds together can be checked all the same.
function comparablePlan(plan: CompactionPlan): unknown {
  const characters = [...plan.summaryPrompt].length;
  if (characters !== plan.promptChars) throw new Error(`the prompt has ${characters}, not ${plan.promptChars}`);
  return { ...plan, summaryPrompt: null, promptChars: null, truncated: plan.truncated ?? false };
}
