import type { CallName, Tree } from '../support/memory-file-system.js';
import type { Trace } from '../support/recording-file-system.js';
import {
  type CrashState,
  countStates,
  crashStates,
  PERSONAS,
  type Persona,
  type Selection,
  treeKey,
} from './crash-states.js';
import { type Expectation, InvariantError, Invariants } from './invariants.js';
import { type Recorded, record, recovered } from './recorded.js';
import type { Scenario } from './scenarios.js';
import { viewOf } from './view.js';
import type { Era } from './world.js';

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
  /** How many states in the middle of a recovery to look at; 0 for none. */
  readonly nestedLimit?: (persona: Persona) => number;
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
  const limits = { violationLimit: 20, stateLimit: Number.POSITIVE_INFINITY, ...options };
  const recorded = await record(scenario);
  const examiner = new Examiner(scenario, recorded);
  const coverage: Coverage[] = [];
  for (const persona of personas) {
    if (examiner.violations.length >= limits.violationLimit) break;
    const nestedLimit = options.nestedLimit?.(persona) ?? Number.POSITIVE_INFINITY;
    coverage.push(await examiner.examineAll(persona, { ...limits, nestedLimit }));
  }
  return { coverage, violations: examiner.violations };
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

function keyOf(treeKey: string, { acknowledged, workspaceAsFound }: Expectation): string {
  return `${treeKey} ${acknowledged} ${workspaceAsFound ?? ''}`;
}

/** Gives the step by which the states inside a recovery are so few, and other ones for each recovery. */
function nestedStep(recovery: Trace, persona: Persona, share: number): number {
  if (share === Number.POSITIVE_INFINITY) return 1;
  return Math.max(1, Math.floor(countStates(recovery, persona, NESTED) / Math.max(1, Math.ceil(share))));
}

/** Recovery writes what it read or made itself: that a write of it is torn matters, the byte does not. */
const NESTED: Selection = { tears: 'ends', combined: 4 };

class Examiner {
  readonly violations: Violation[] = [];
  readonly #scenario: Scenario;
  readonly #recorded: Recorded;
  readonly #invariants: Invariants;
  /** States that were found to be all right: equal ones come up again and again. */
  readonly #passed = new Set<string>();
  /** The same for disks after recovery; most of the many states recover to the same few. */
  readonly #passedAfter = new Set<string>();

  constructor(scenario: Scenario, recorded: Recorded) {
    this.#scenario = scenario;
    this.#recorded = recorded;
    this.#invariants = new Invariants(scenario, recorded);
  }

  async examineAll(
    persona: Persona,
    {
      nestedLimit,
      violationLimit,
      stateLimit,
    }: Readonly<Record<'nestedLimit' | 'violationLimit' | 'stateLimit', number>>,
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
    era: Era = 'recovery',
  ): Promise<Trace | undefined> {
    const key = keyOf(state.key, expectation);
    try {
      if (this.#passed.has(key)) return (await recovered(this.#scenario, state.tree, era)).trace;
      this.#invariants.checkReadable(state.tree, expectation);
      const { trace, tree } = await recovered(this.#scenario, state.tree, era);
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
    await this.#examine(state, expectation, persona, where, 'second recovery');
  }

  async #checkRecovered(tree: Tree, expectation: Expectation): Promise<void> {
    const key = keyOf(treeKey(tree), expectation);
    if (this.#passedAfter.has(key)) return;
    this.#invariants.checkOutcome(tree, expectation);
    await this.#invariants.checkQuiet(tree);
    await this.#invariants.checkLifeGoesOn(tree, expectation);
    this.#passedAfter.add(key);
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
