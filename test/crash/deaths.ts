import { ZeroSessionsError } from '../../src/errors.js';
import { aMessage } from '../support/event-builder.js';
import { RecordingFileSystem } from '../support/recording-file-system.js';
import { type CrashState, crashStates, type Persona, type Selection, treeKey } from './crash-states.js';
import { InvariantError, Invariants, linesOf, withoutNames } from './invariants.js';
import { type Recorded, record, recovered } from './recorded.js';
import type { Scenario } from './scenarios.js';
import { type View, viewOf } from './view.js';
import { worldOn } from './world.js';

// A process is killed and what it did is not synced; another one works on from there, and then the power fails. What the
// second was told must last although it rests on what the first never made sure of.

/** What was looked at, and what was wrong. */
export interface DeathReport {
  readonly calls: number;
  readonly deaths: number;
  readonly states: number;
  readonly violations: readonly string[];
}

const SURVIVOR = 'said by the survivor';

// What the survivor's own writes leave torn is gone through by the enumerator.
const ENDS: Selection = { tears: 'ends', combined: 6 };
const PERSONAS: readonly Persona[] = ['ordered', 'weakest'];

/**
 * Kills a process after each call of an operation, lets another one work, and crashes the machine at each of its calls.
 * @param limit - Deaths to look at, spread over the calls.
 */
export async function surviveDeaths(scenario: Scenario, limit: number): Promise<DeathReport> {
  const alone = await record(scenario);
  const violations = new Set<string>();
  let deaths = 0;
  let states = 0;
  const calls = alone.trace.calls.length;
  for (const killedAfter of deathsOf(calls, limit)) {
    for (const survived of await recordSurvivors(scenario, alone, killedAfter)) {
      deaths += 1;
      // Equal disks, before recovery and above all after it, come up again and again.
      const passed = new Set<string>();
      for (const persona of PERSONAS) {
        const every = crashStates(survived.recorded.trace, persona, { ...ENDS, from: killedAfter }).states;
        states += every.length;
        for (const state of every) {
          const wrong = await examine(scenario, alone, survived, state, passed);
          const place = `${scenario.name}, ${persona}, ${placeOf(alone, killedAfter)}, then ${survived.what}`;
          if (wrong !== undefined) violations.add(`${place}: ${wrong}`);
        }
      }
    }
  }
  return { calls, deaths, states, violations: [...violations] };
}

/** Spread over the calls, and always the last ones, which are around the commit. */
function deathsOf(calls: number, limit: number): readonly number[] {
  const step = Math.max(1, Math.floor(calls / limit));
  const every = Array.from({ length: calls - 1 }, (_, at) => at + 1);
  return every.filter((at) => at % step === 1 % step || at > calls - 5);
}

interface Survived {
  readonly what: 'the same' | 'an append';
  /** What the survivor did: the same again where it was not done, else an append. */
  readonly next: Scenario;
  readonly recorded: Recorded;
}

async function recordSurvivors(scenario: Scenario, alone: Recorded, killedAfter: number): Promise<readonly Survived[]> {
  const made: Survived[] = [];
  for (const what of ['the same', 'an append'] as const) {
    const disk = await killed(scenario, alone, killedAfter);
    const next = nextAfter(scenario, viewOf(disk.snapshot()), what);
    if (next === undefined) continue;
    try {
      await next.run(worldOn(() => disk, 'survivor').store);
    } catch (error) {
      // What is done already cannot be done again.
      if (what === 'the same' && error instanceof ZeroSessionsError) continue;
      throw error;
    }
    disk.acknowledge();
    made.push({ what, next, recorded: { trace: disk.trace(), before: alone.before, after: viewOf(disk.snapshot()) } });
  }
  return made;
}

async function killed(scenario: Scenario, { trace }: Recorded, killedAfter: number): Promise<RecordingFileSystem> {
  let fs: RecordingFileSystem | undefined;
  const dying = worldOn((now) => {
    fs = new RecordingFileSystem(trace.base, now, killedAfter);
    return fs;
  }, 'operation');
  try {
    scenario.unsynced?.(dying);
    await scenario.run(dying.store);
  } catch {
    // Whatever it says, nobody hears it.
  }
  const disk = fs as RecordingFileSystem;
  disk.startAnother();
  return disk;
}

function nextAfter(scenario: Scenario, left: View, what: Survived['what']): Scenario | undefined {
  const { makes, judged } = scenario;
  const made = makes === undefined ? undefined : [...left.sessions.keys()].find((id) => id !== 's');
  const isLinked = left.sessions.get('s')?.events.some(({ type }) => type === 'session_child');
  const isToBeMade = makes !== undefined && (made === undefined || (judged === 'child' && !isLinked));
  if (what === 'the same') return isToBeMade || (makes === undefined && judged === 'whole') ? scenario : undefined;
  // What is settled by a command of its own is half done until then, and whoever appends is only warned.
  if (isToBeMade || scenario.settle !== undefined) return undefined;
  const { makes: _, ...others } = scenario;
  // To the session that was being written when the first one died.
  const id = judged === 'child' ? 's' : (made ?? 's');
  return { ...others, judged: 'whole', run: (store) => store.appendEvent(id, aMessage(SURVIVOR)) };
}

async function examine(
  scenario: Scenario,
  alone: Recorded,
  { next, recorded }: Survived,
  { tree, key, acknowledged, lost }: CrashState,
  passed: Set<string>,
): Promise<string | undefined> {
  const invariants = new Invariants(next, recorded);
  const expectation = { acknowledged, workspaceAsFound: undefined };
  try {
    if (passed.has(`found ${key} ${acknowledged}`)) return undefined;
    invariants.checkReadable(tree, expectation);
    const { tree: after } = await recovered(next, tree);
    passed.add(`found ${key} ${acknowledged}`);
    const left = `left ${treeKey(after)} ${acknowledged}`;
    if (passed.has(left)) return undefined;
    if (acknowledged) invariants.checkOutcome(after, expectation);
    else checkAnyOutcome(scenario, alone, recorded, viewOf(after));
    await invariants.checkQuiet(after);
    await invariants.checkLifeGoesOn(after, expectation);
    passed.add(left);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvariantError)) return `${(error as Error).stack?.slice(0, 500)} (lost: ${lost})`;
    return `${acknowledged ? 'acknowledged' : 'not acknowledged'}, ${error.invariant}: ${error.message} (lost: ${lost})`;
  }
}

/** Nobody was told of either, so each may be there or not, but whole. */
function checkAnyOutcome(scenario: Scenario, alone: Recorded, { after }: Recorded, found: View): void {
  const view = withoutSurvivor(found);
  const said = summaryOf(view, scenario);
  if ([alone.before, alone.after, after].some((wanted) => summaryOf(withoutSurvivor(wanted), scenario) === said))
    return;
  if (scenario.judged === 'prefix' && isBetween(view, alone)) return;
  if (scenario.judged === 'child' && isUnlinked(view, alone.before, [alone.after, after])) return;
  throw new InvariantError('all or nothing', summaryOf(found, scenario));
}

function withoutSurvivor(view: View): View {
  const sessions = [...view.sessions].map(([id, session]) => {
    const isOurs = session.events.at(-1)?.line.includes(SURVIVOR) === true;
    return [id, isOurs ? { ...session, events: session.events.slice(0, -1) } : session] as const;
  });
  return { ...view, sessions: new Map(sessions) };
}

function isBetween(view: View, { before, after }: Recorded): boolean {
  return (
    view.workspace === before.workspace &&
    [...after.sessions].every(([id, session]) => {
      const lines = linesOf(view.sessions.get(id));
      return linesOf(session).startsWith(lines) && lines.startsWith(linesOf(before.sessions.get(id)));
    })
  );
}

function isUnlinked(view: View, before: View, made: readonly View[]): boolean {
  return (
    linesOf(view.sessions.get('s')) === linesOf(before.sessions.get('s')) &&
    made.some(({ sessions }) => linesOf(sessions.get('new')) === linesOf(view.sessions.get('new')))
  );
}

/** Logs, files and kept records; not the metadata, which follow the log. */
function summaryOf({ sessions, workspace, kept }: View, { looseRecords, completesRecords }: Scenario): string {
  const logs = [...sessions].map(([id, session]) => `${id}:\n${linesOf(session)}`);
  const records = completesRecords ? logsAlone(kept) : looseRecords ? withoutNames(kept) : kept;
  return [...logs, workspace, records].join('\n');
}

/** Gives the kept records without what completing one adds: that it is told, and the blobs that are linked for it. */
function logsAlone(kept: string): string {
  return kept.replaceAll(/^(\S+) \S+ \S+ \S+/gm, '$1');
}

function placeOf({ trace }: Recorded, killedAfter: number): string {
  const call = trace.calls[killedAfter - 1];
  return `killed after call ${killedAfter}, ${call?.name} ${call?.path}`;
}
