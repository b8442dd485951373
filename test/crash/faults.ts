import { type CallName, MemoryFileSystem, systemError } from '../support/memory-file-system.js';
import { type Violation, verifyOutcome } from './enumerate.js';
import type { Recorded } from './recorded.js';
import type { Scenario } from './scenarios.js';
import { type World, worldOn } from './world.js';

/** What the system answers in place of the nth call. */
export type FaultKind = 'EIO once' | 'ENOSPC half written' | 'ENOSPC from here on' | 'EACCES once' | 'EMFILE once';
export const FAULT_KINDS: readonly FaultKind[] = [
  'EIO once',
  'ENOSPC half written',
  'ENOSPC from here on',
  'EACCES once',
  'EMFILE once',
];

const NEEDS_SPACE: ReadonlySet<CallName> = new Set<CallName>(['create', 'write', 'mkdir', 'symlink', 'link', 'fsync']);
const TAKES_DESCRIPTOR: ReadonlySet<CallName> = new Set<CallName>([
  'openRead',
  'openAppend',
  'openFolder',
  'create',
  'readdir',
]);
const ASKS_PERMISSION: ReadonlySet<CallName> = new Set<CallName>([
  'openRead',
  'openAppend',
  'openFolder',
  'readdir',
  'create',
  'mkdir',
  'rename',
  'link',
  'symlink',
  'unlink',
  'rmdir',
  'fchmod',
]);

/** What became of an operation in which one call failed. */
export interface FaultedRun {
  readonly succeeded: boolean;
  readonly result: unknown;
  readonly error: unknown;
  readonly world: World;
  /** The calls that were made from the fault on, that one first. */
  readonly callsAfter: readonly { readonly name: CallName; readonly path: string }[];
}

export interface FaultReport {
  readonly cases: number;
  readonly succeeded: number;
  /** Successes that left something out and said so: a file skipped, a blob not copied, a mode not set. */
  readonly told: number;
  readonly violations: readonly Violation[];
}

/** Fails every call of an operation in turn, in every way that fits it, and looks what is left. */
export async function failEveryCall(scenario: Scenario, recorded: Recorded): Promise<FaultReport> {
  const calls = await callsOf(scenario, recorded);
  const violations: Violation[] = [];
  let cases = 0;
  let succeeded = 0;
  let told = 0;
  for (const kind of FAULT_KINDS) {
    for (const [nth, { name, path }] of calls.entries()) {
      if (!fits(kind, name)) continue;
      cases += 1;
      const run = await runWithFault(scenario, recorded, kind, nth);
      if (run.succeeded) succeeded += 1;
      // A mode that the file system refuses is left out, and said once in a process (finding 20).
      const isModeRefused = kind === 'EACCES once' && name === 'fchmod';
      if (run.succeeded && (isModeRefused || (await saysWhatIsMissing(run)))) {
        told += 1;
        continue;
      }
      const where = `${kind} at call ${nth + 1}, ${name} ${path}, ${run.succeeded ? 'succeeded' : String(run.error)}`;
      violations.push(...(await verifyOutcome(scenario, recorded, run.world.fs.snapshot(), run.succeeded, where)));
    }
  }
  return { cases, succeeded, told, violations };
}

async function saysWhatIsMissing({ result, world: { store, warnings } }: FaultedRun): Promise<boolean> {
  const { skipped = [], left = [] } = (result ?? {}) as { skipped?: readonly string[]; left?: readonly string[] };
  if (skipped.length > 0 || left.length > 0) return true;
  if (warnings.some(({ code }) => code === 'BLOB_NOT_COPIED')) return true;
  const last = (await store.get('s')) === null ? undefined : (await store.readEvents('s')).at(-1);
  return last?.type === 'session_checkpoint' && Buffer.from(last.payload ?? []).includes('"skipped":true');
}

/** Runs an operation in which the nth call fails; from 0. */
export async function runWithFault(
  scenario: Scenario,
  recorded: Recorded,
  kind: FaultKind,
  nth: number,
): Promise<FaultedRun> {
  let made = -1;
  let armed = false;
  const callsAfter: { name: CallName; path: string }[] = [];
  const call = (name: CallName, path: string): Error | undefined => {
    if (!armed) return undefined;
    made += 1;
    if (made < nth) return undefined;
    callsAfter.push({ name, path });
    if (kind === 'ENOSPC half written') return made === nth ? systemError('ENOSPC', name, path) : undefined;
    const lasts = kind === 'ENOSPC from here on' && NEEDS_SPACE.has(name);
    if (made === nth || lasts) throw systemError(kind.split(' ')[0] as string, name, path);
    return undefined;
  };
  const world = worldOn((now) => new MemoryFileSystem(recorded.trace.base, now, { call }), 'operation');
  scenario.unsynced?.(world);
  armed = true;
  try {
    const result = await scenario.run(world.store);
    return { succeeded: true, result, error: undefined, world, callsAfter };
  } catch (error) {
    return { succeeded: false, result: undefined, error, world, callsAfter };
  }
}

/** Gives every call of an operation, reading ones included. */
export async function callsOf(
  scenario: Scenario,
  recorded: Recorded,
): Promise<readonly { readonly name: CallName; readonly path: string }[]> {
  const calls: { name: CallName; path: string }[] = [];
  let armed = false;
  const call = (name: CallName, path: string): undefined => {
    if (armed) calls.push({ name, path });
  };
  const world = worldOn((now) => new MemoryFileSystem(recorded.trace.base, now, { call }), 'operation');
  scenario.unsynced?.(world);
  armed = true;
  await scenario.run(world.store);
  return calls;
}

function fits(kind: FaultKind, name: CallName): boolean {
  if (name === 'mayChange') return false; // answers, and never fails
  if (kind === 'EIO once') return true;
  if (kind === 'EMFILE once') return TAKES_DESCRIPTOR.has(name);
  if (kind === 'EACCES once') return ASKS_PERMISSION.has(name);
  return kind === 'ENOSPC half written' ? name === 'write' : NEEDS_SPACE.has(name);
}
