import { aMessage } from '../support/event-builder.js';
import { type CallName, MemoryFileSystem, MUTATING_CALLS, type Tree } from '../support/memory-file-system.js';
import { RecordingFileSystem, type Trace } from '../support/recording-file-system.js';
import {
  type CrashState,
  countStates,
  crashStates,
  PERSONAS,
  type Persona,
  type Selection,
  treeKey,
} from './crash-states.js';
import type { Scenario } from './scenarios.js';
import type { StrictSession } from './strict-reader.js';
import { type View, viewOf } from './view.js';
import { freshTree, type World, worldOfTree, worldOn } from './world.js';

/** An invariant that a state breaks, with enough to make the state again. */
export interface Violation {
  readonly scenario: string;
  readonly persona: Persona;
  readonly where: string;
  readonly invariant: string;
  readonly what: string;
}

/** What was looked at for one scenario and persona. */
export interface Coverage {
  readonly scenario: string;
  readonly persona: Persona;
  /** Different states, before recovery. */
  readonly states: number;
  /** Different states in the middle of a recovery. */
  readonly nested: number;
  /** Recoveries that had states in their middle left out, because the sample was full. */
  readonly sampled: boolean;
  /** States made for each call of the operation, before equal ones were dropped. */
  readonly calls: readonly { readonly name: CallName; readonly path: string; readonly states: number }[];
}

export interface Enumeration {
  readonly coverage: readonly Coverage[];
  readonly violations: readonly Violation[];
}

export interface EnumerationOptions {
  readonly personas?: readonly Persona[];
  /** States in the middle of a recovery to look at, for each persona; 0 for none. */
  readonly nestedLimit?: number;
  /** States to look at, for each persona, spread over all of them; all when left out. */
  readonly stateLimit?: number;
  /** Stops at so many violations. */
  readonly violationLimit?: number;
}

/** Gives violations as a person reads them. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ scenario, persona, where, invariant, what }) => `${scenario}, ${persona}, ${where}: ${invariant}: ${what}`)
    .join('\n\n');
}

/** Names the calls that a scenario expects and that have no crash state; an empty list is what is wanted. */
export function missingCalls(scenario: Scenario, { calls }: Coverage): readonly string[] {
  const without = calls.filter(({ states }) => states === 0).map(({ name, path }) => `no state for ${name} ${path}`);
  const fewer = Object.entries(scenario.calls).flatMap(([name, wanted]) => {
    const made = calls.filter((call) => call.name === name).length;
    return made < wanted ? [`${made} of ${wanted} ${name}`] : [];
  });
  return [...without, ...fewer];
}

/** Runs an operation once, and then recovers from every crash in it. */
export async function enumerateCrashes(scenario: Scenario, options: EnumerationOptions = {}): Promise<Enumeration> {
  const { personas = PERSONAS } = options;
  const limits = { nestedLimit: 2000, violationLimit: 20, stateLimit: Number.POSITIVE_INFINITY, ...options };
  const recorded = await record(scenario);
  const examiner = new Examiner(scenario, recorded);
  const coverage: Coverage[] = [];
  for (const persona of personas) {
    if (examiner.violations.length >= limits.violationLimit) break;
    coverage.push(await examiner.examineAll(persona, limits));
  }
  return { coverage, violations: examiner.violations };
}

export interface Recorded {
  readonly trace: Trace;
  readonly before: View;
  readonly after: View;
}

/** Runs the operation with everything recorded; unsynced edits of others are the first calls of the trace. */
export async function record(scenario: Scenario): Promise<Recorded> {
  const prepared = worldOfTree(freshTree(), 'prepare');
  await scenario.prepare(prepared);
  const base = prepared.fs.snapshot();
  let fs: RecordingFileSystem | undefined;
  const world = worldOn((now) => {
    fs = new RecordingFileSystem(base, now);
    return fs;
  }, 'operation');
  scenario.unsynced?.(world);
  const before = viewOf(world.fs.snapshot());
  await scenario.run(world.store);
  fs?.acknowledge();
  return { trace: (fs as RecordingFileSystem).trace(), before, after: viewOf(world.fs.snapshot()) };
}

/** Holds a disk that an operation left, without a crash, to the same invariants. */
export async function verifyOutcome(
  scenario: Scenario,
  recorded: Recorded,
  tree: Tree,
  acknowledged: boolean,
  where: string,
): Promise<readonly Violation[]> {
  const examiner = new Examiner(scenario, recorded);
  await examiner.examineDisk(tree, acknowledged, where);
  return examiner.violations;
}

class InvariantError extends Error {
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(message);
    this.invariant = invariant;
  }
}

/** What may be found where a crash came before the operation promised anything about files that nobody had synced. */
interface Expectation {
  readonly acknowledged: boolean;
  readonly workspaceAsFound: string | undefined;
  /** Whether folders that nothing is in may be there or not: they are removed where that is possible. */
  readonly looseFolders?: boolean;
}

function keyOf(treeKey: string, { acknowledged, workspaceAsFound }: Expectation): string {
  return `${treeKey} ${acknowledged} ${workspaceAsFound ?? ''}`;
}

/** Gives the step by which the states inside a recovery are so few, and other ones for each recovery. */
function nestedStep(recovery: Trace, persona: Persona, share: number): number {
  if (share === Number.POSITIVE_INFINITY) return 1;
  return Math.max(1, Math.floor(countStates(recovery, persona, NESTED) / Math.max(1, Math.ceil(share))));
}

/** Recovery writes what it read or made itself: that a write of it is torn matters, the byte does not. */
const NESTED: Selection = { tears: 'ends' };

class Examiner {
  readonly violations: Violation[] = [];
  readonly #scenario: Scenario;
  readonly #recorded: Recorded;
  /** States that were found to be all right: equal ones come up again and again. */
  readonly #passed = new Set<string>();
  /** The same for disks after recovery; most of the many states recover to the same few. */
  readonly #passedAfter = new Set<string>();

  constructor(scenario: Scenario, recorded: Recorded) {
    this.#scenario = scenario;
    this.#recorded = recorded;
  }

  async examineAll(
    persona: Persona,
    { nestedLimit, violationLimit, stateLimit }: Required<Omit<EnumerationOptions, 'personas'>>,
  ): Promise<Coverage> {
    const { trace } = this.#recorded;
    const { states: every, generatedAt } = crashStates(trace, persona);
    const stateStep = Math.ceil(every.length / stateLimit);
    const states = every.filter((_, at) => at % Math.max(1, stateStep) === 0);
    const nestedSeen = new Set<string>();
    let sampled = false;
    for (const [at, state] of states.entries()) {
      if (this.violations.length >= violationLimit) break;
      const where = describePoint(trace, state);
      const expectation = this.#expectationOf(state);
      const recovery = await this.#examine(state, expectation, persona, where);
      if (recovery === undefined || nestedLimit === 0 || recovery.calls.length === 0) continue;
      const step = nestedStep(recovery, persona, (nestedLimit - nestedSeen.size) / (states.length - at));
      if (step > 1) sampled = true;
      for (const nested of crashStates(recovery, persona, { ...NESTED, step, first: at }).states) {
        if (nestedSeen.has(nested.key)) continue;
        nestedSeen.add(nested.key);
        const inside = `${where} ${state.lost}; then in recovery ${describePoint(recovery, nested)}`;
        await this.#examineNested({ ...nested, acknowledged: expectation.acknowledged }, expectation, persona, inside);
      }
    }
    const calls = trace.calls.map(({ name, path }, call) => ({ name, path, states: generatedAt[call + 1] ?? 0 }));
    return { scenario: this.#scenario.name, persona, states: states.length, nested: nestedSeen.size, sampled, calls };
  }

  async examineDisk(tree: Tree, acknowledged: boolean, where: string): Promise<void> {
    const state: CrashState = { tree, key: treeKey(tree), acknowledged, point: 0, lost: '' };
    await this.#examine(state, { acknowledged, workspaceAsFound: undefined, looseFolders: true }, 'kill', where);
  }

  #expectationOf(state: CrashState): Expectation {
    const { acknowledged } = state;
    if (acknowledged || this.#scenario.unsynced === undefined) return { acknowledged, workspaceAsFound: undefined };
    const announced = attempt(() => viewOf(state.tree))
      ?.sessions.get('s')
      ?.events.at(-1);
    const isAnnounced = announced?.type === 'session_checkpoint' || announced?.type === 'session_rewind';
    return { acknowledged, workspaceAsFound: isAnnounced ? undefined : viewOf(state.tree).workspace };
  }

  /** Gives the trace of the recovery, or undefined when the state was looked at before or is a violation. */
  async #examine(
    state: CrashState,
    expectation: Expectation,
    persona: Persona,
    where: string,
  ): Promise<Trace | undefined> {
    const key = keyOf(state.key, expectation);
    try {
      if (this.#passed.has(key)) return (await recovered(this.#scenario, state.tree)).trace;
      this.#checkReadable(state.tree, expectation);
      const { trace, tree } = await recovered(this.#scenario, state.tree);
      await this.#checkRecovered(tree, expectation);
      this.#passed.add(key);
      return trace;
    } catch (error) {
      const invariant = error instanceof InvariantError ? error.invariant : 'recovery succeeds';
      const what = error instanceof InvariantError ? error.message : String((error as Error).stack).slice(0, 600);
      // One of a kind is enough: a write torn at each of 300 bytes breaks the same thing 300 times.
      if (this.violations.some((other) => other.where.startsWith(where) && other.invariant === invariant))
        return undefined;
      this.violations.push({
        scenario: this.#scenario.name,
        persona,
        where: `${where} ${state.lost}`,
        invariant,
        what,
      });
      return undefined;
    }
  }

  async #examineNested(state: CrashState, expectation: Expectation, persona: Persona, where: string): Promise<void> {
    if (this.#passed.has(keyOf(state.key, expectation))) return;
    await this.#examine(state, expectation, persona, where);
  }

  async #checkRecovered(tree: Tree, expectation: Expectation): Promise<void> {
    const key = keyOf(treeKey(tree), expectation);
    if (this.#passedAfter.has(key)) return;
    this.#checkOutcome(tree, expectation);
    await this.#checkQuiet(tree);
    await this.#checkLifeGoesOn(tree, expectation);
    this.#passedAfter.add(key);
  }

  /** Before recovery: the reference program lists and reads every session that somebody was told of. */
  #checkReadable(tree: Tree, { acknowledged }: Expectation): void {
    const view = reading('readable before recovery', () => viewOf(tree));
    const { before, after } = this.#recorded;
    const promised = acknowledged ? after : before;
    for (const [id, session] of promised.sessions) {
      const found = view.sessions.get(id);
      if (found === undefined) throw new InvariantError('acknowledged sessions are listed', `${id} is not listed`);
      const holds = linesOf(found).startsWith(linesOf(session));
      if (acknowledged && !holds) throw new InvariantError('acknowledged events are there', diff(session, found));
    }
  }

  #checkOutcome(tree: Tree, { acknowledged, workspaceAsFound, looseFolders = false }: Expectation): void {
    const view = reading('readable after recovery', () => viewOf(tree));
    const { before, after } = this.#recorded;
    const isNew = this.#matches(view, after, looseFolders);
    if (acknowledged && isNew !== undefined) throw new InvariantError('acknowledged is durable', isNew);
    if (isNew === undefined) {
      checkKept(view, after);
      return;
    }
    const asFound = workspaceAsFound === undefined ? before : { ...before, workspace: workspaceAsFound };
    const isOld =
      this.#matches(view, before, looseFolders) === undefined ? undefined : this.#matches(view, asFound, looseFolders);
    if (isOld === undefined) {
      checkKept(view, before);
      return;
    }
    if (this.#scenario.judged === 'prefix' && isPrefix(view, before, after)) return;
    if (this.#scenario.judged === 'child' && isUnlinkedChild(view, before, after)) return;
    throw new InvariantError('all or nothing', `neither old (${isOld}) nor new (${isNew})`);
  }

  #matches(view: View, wanted: View, looseFolders: boolean): string | undefined {
    const ids = [...view.sessions.keys()].join();
    const wantedIds = [...wanted.sessions.keys()].join();
    if (ids !== wantedIds) return `sessions ${ids} instead of ${wantedIds}`;
    for (const [id, session] of wanted.sessions) {
      const found = view.sessions.get(id) as StrictSession;
      if (linesOf(found) !== linesOf(session)) return `log of ${diff(session, found)}`;
      const metadata = this.#comparable(found);
      const wantedMetadata = this.#comparable(session);
      if (metadata !== wantedMetadata) return `metadata ${metadata} instead of ${wantedMetadata}`;
    }
    const files = ({ workspace }: View): string => (looseFolders ? withoutFolders(workspace) : workspace);
    if (files(view) !== files(wanted)) return `files\n${view.workspace}\ninstead of\n${wanted.workspace}`;
    return undefined;
  }

  #comparable({ metadata }: StrictSession): string {
    const loose = this.#scenario.looseMetadata ?? [];
    return JSON.stringify(Object.fromEntries(Object.entries(metadata).filter(([name]) => !loose.includes(name))));
  }

  async #checkQuiet(tree: Tree): Promise<void> {
    const changing: string[] = [];
    const world = worldOn(
      (now) =>
        new MemoryFileSystem(tree, now, {
          call: (name, path) => {
            if (MUTATING_CALLS.has(name) || name === 'fsync' || name === 'syncFolder') changing.push(`${name} ${path}`);
            return undefined;
          },
        }),
      'second recovery',
    );
    await settle(this.#scenario, world);
    if (changing.length > 0) throw new InvariantError('second recovery changes nothing', changing.join(', '));
  }

  async #checkLifeGoesOn(tree: Tree, { acknowledged }: Expectation): Promise<void> {
    const world = worldOfTree(tree, 'afterwards');
    const start = viewOf(tree);
    const { makes } = this.#scenario;
    if (makes !== undefined && start.sessions.size < this.#recorded.after.sessions.size) {
      if (acknowledged) throw new InvariantError('acknowledged sessions are listed', `${makes} is not there`);
      await this.#scenario.run(world.store);
    } else if (this.#scenario.judged === 'child' && !this.#sameLogs(start)) {
      await this.#scenario.run(world.store);
    }
    const made = reading('retry', () => viewOf(world.fs.snapshot()));
    if (makes !== undefined && made.sessions.size !== this.#recorded.after.sessions.size) {
      throw new InvariantError('a retry makes it', `sessions ${[...made.sessions.keys()].join()}`);
    }
    if (this.#scenario.judged === 'child') checkOneLinkEach(made);
    for (const [id, session] of made.sessions) await this.#checkAppend(world, id, session);
    const end = viewOf(world.fs.snapshot());
    if (end.kept !== made.kept) throw new InvariantError('kept records keep their bytes', end.kept);
    // What only another create sweeps is looked at after one.
    if (makes !== undefined || end.leftovers.length > 0) await world.store.create({ sessionId: 'sweeper' });
    const { leftovers } = viewOf(world.fs.snapshot());
    if (leftovers.length > 0) throw new InvariantError('no temporary file is left', leftovers.join(', '));
    if (world.fs.openCount > 0) throw new InvariantError('every file is closed', `${world.fs.openCount} are open`);
  }

  #sameLogs(view: View): boolean {
    return [...this.#recorded.after.sessions].every(([id, session]) => {
      const found = view.sessions.get(id);
      return found !== undefined && found.events.length === session.events.length;
    });
  }

  async #checkAppend(world: World, id: string, session: StrictSession): Promise<void> {
    const event = await world.store.appendEvent(id, aMessage('afterwards'));
    const found = reading('an append works', () => viewOf(world.fs.snapshot())).sessions.get(id);
    const highest = Math.max(session.metadata.eventCount as number, session.events.at(-1)?.sequence ?? 0);
    if (event.sequence !== highest + 1) {
      throw new InvariantError('the next sequence is the first unused', `${event.sequence} after ${highest}`);
    }
    const wanted = [...session.events.map(({ id }) => id), event.id].join();
    if (found?.events.map(({ id }) => id).join() !== wanted) {
      throw new InvariantError('an append works', `events ${found?.events.map(({ id }) => id).join()}`);
    }
    if (found.torn !== '') throw new InvariantError('an append works', `the log ends in ${JSON.stringify(found.torn)}`);
  }
}

async function settle(scenario: Scenario, world: World): Promise<void> {
  if (scenario.settle !== undefined) await scenario.settle(world.store);
  // Wants to change a title that the session does not have, and so only puts right what has to be.
  else await world.store.updateTitleIfCurrent('s', 'no such title', 'never');
}

async function recovered(scenario: Scenario, tree: Tree): Promise<{ readonly trace: Trace; readonly tree: Tree }> {
  let fs: RecordingFileSystem | undefined;
  const world = worldOn((now) => {
    fs = new RecordingFileSystem(tree, now);
    return fs;
  }, 'recovery');
  await settle(scenario, world);
  if (world.fs.openCount > 0) throw new InvariantError('every file is closed', `${world.fs.openCount} are open`);
  return { trace: (fs as RecordingFileSystem).trace(), tree: world.fs.snapshot() };
}

function withoutFolders(workspace: string): string {
  return workspace
    .split('\n')
    .filter((line) => !/^\/.*\/ \d+$/.test(line))
    .join('\n');
}

function checkKept(view: View, wanted: View): void {
  if (view.kept !== wanted.kept) {
    throw new InvariantError('kept records are those of what happened', `${view.kept}\ninstead of\n${wanted.kept}`);
  }
}

function isPrefix(view: View, before: View, after: View): boolean {
  if (view.workspace !== before.workspace) return false;
  return [...after.sessions].every(([id, session]) => {
    const found = view.sessions.get(id);
    if (found === undefined) return false;
    const lines = linesOf(found);
    const last = found.events.at(-1);
    const isCounted = found.metadata.eventCount === last?.sequence && found.metadata.lastEventType === last?.type;
    return isCounted && linesOf(session).startsWith(lines) && lines.startsWith(linesOf(before.sessions.get(id)));
  });
}

function isUnlinkedChild(view: View, before: View, after: View): boolean {
  const child = after.sessions.get('new');
  return (
    linesOf(view.sessions.get('s')) === linesOf(before.sessions.get('s')) &&
    linesOf(view.sessions.get('new')) === linesOf(child) &&
    JSON.stringify(view.sessions.get('new')?.metadata) === JSON.stringify(child?.metadata)
  );
}

function checkOneLinkEach(view: View): void {
  for (const id of ['s', 'new']) {
    const links = view.sessions.get(id)?.events.filter(({ type }) => type === 'session_child').length;
    if (links !== 1) throw new InvariantError('one link on each side', `${id} has ${links}`);
  }
}

function linesOf(session: StrictSession | undefined): string {
  return session === undefined ? '' : session.events.map(({ line }) => `${line}\n`).join('');
}

function diff(wanted: StrictSession, found: StrictSession): string {
  const ids = ({ events }: StrictSession): string => events.map(({ id, type }) => `${id} ${type}`).join(', ');
  return `${wanted.id}: ${ids(found)} instead of ${ids(wanted)}`;
}

function reading(invariant: string, read: () => View): View {
  try {
    return read();
  } catch (error) {
    throw new InvariantError(invariant, (error as Error).message);
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function describePoint(trace: Trace, { point, acknowledged }: CrashState): string {
  const last = trace.calls[point - 1];
  const call = last === undefined ? 'before the first call' : `after call ${point}, ${last.name} ${last.path}`;
  return acknowledged ? `${call}, acknowledged` : call;
}
