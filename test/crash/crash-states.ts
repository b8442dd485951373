import { createHash } from 'node:crypto';
import { applyEffect, type Effect, type Inode, ROOT_INODE, type Tree } from '../support/memory-file-system.js';
import type { Trace } from '../support/recording-file-system.js';

/**
 * What of the unsynced survives: everything (`kill`); names in order and data by chance (`ordered`); any part
 * (`weakest`). See RELIABILITY.md, 2.1.
 */
export type Persona = 'kill' | 'ordered' | 'weakest';
export const PERSONAS: readonly Persona[] = ['kill', 'ordered', 'weakest'];

/** What is on the disk when the machine comes up again. */
export interface CrashState {
  readonly tree: Tree;
  /** Tells equal trees. */
  readonly key: string;
  /** Whether the caller had been told that all was well. */
  readonly acknowledged: boolean;
  /** Calls made before the crash; the last of them may be torn. */
  readonly point: number;
  /** Says what was lost, for a message. */
  readonly lost: string;
}

export interface CrashStates {
  readonly states: readonly CrashState[];
  /** How many states were made before equal ones were dropped, by point. */
  readonly generatedAt: readonly number[];
}

/** Writes up to this length are torn at every byte, longer ones at a sample. */
const TORN_AT_EVERY_BYTE = 300;
/** Of more effects that may or may not be there than this not every combination is made. */
const COMBINED = 10;

/** Which of the states are wanted; all of them when left out. */
export interface Selection {
  /** Calls that are made already, all of them: no crash in them. */
  readonly from?: number;
  /** `ends`: a write is torn at its first byte, its middle and its last byte, and not at every one. */
  readonly tears?: 'every byte' | 'ends';
  /**
   * Effects of which every combination is made: of more than that none is lost, all are, each alone, and all but each. 10
   * when left out.
   */
  readonly combined?: number;
  /** Takes one of so many states, beginning with one of them. */
  readonly step?: number;
  readonly first?: number;
}

/** Gives how many states there are before equal ones are dropped. */
export function countStates(trace: Trace, persona: Persona, selection: Selection = {}): number {
  const steps = stepsOf(trace, persona);
  let count = 0;
  for (let point = selection.from ?? 0; point <= trace.calls.length; point += 1) {
    for (const _ of survivals(steps, stepsBefore(steps, point), persona, selection)) count += 1;
  }
  return count;
}

/**
 * Gives every state that a crash can leave: before the first call, after each, inside each write, and after the
 * caller was told. Equal ones are given once.
 */
export function crashStates(trace: Trace, persona: Persona, selection: Selection = {}): CrashStates {
  const { from = 0, step = 1, first = 0 } = selection;
  const steps = stepsOf(trace, persona);
  const trees = new Trees(trace.base, steps);
  const seen = new Set<string>();
  const states: CrashState[] = [];
  const generatedAt: number[] = Array.from({ length: from }, () => 0);
  let made = 0;
  for (let point = from; point <= trace.calls.length; point += 1) {
    const done = stepsBefore(steps, point);
    const acknowledged = trace.acknowledgedAfter !== undefined && point >= trace.acknowledgedAfter;
    let generated = 0;
    for (const survival of survivals(steps, done, persona, selection)) {
      made += 1;
      if (made % step !== first % step) continue;
      const tree = trees.after(done, survival);
      // Just before the caller is told, the same disk is a state in which nobody was told.
      const told = acknowledged && point === trace.acknowledgedAfter ? [false, true] : [acknowledged];
      const key = treeKey(tree);
      generated += told.length;
      for (const acknowledged of told) {
        const marked = `${key} ${acknowledged}`;
        if (seen.has(marked)) continue;
        seen.add(marked);
        states.push({ tree, key, acknowledged, point, lost: describeLoss(steps, survival) });
      }
    }
    generatedAt.push(generated);
  }
  return { states, generatedAt };
}

/** One effect of a trace, and how long it may still be lost. */
interface Step {
  readonly effect: Effect;
  readonly call: number;
  /** The number of steps after which it lasts. */
  readonly lastsAfter: number;
}

function stepsOf(trace: Trace, persona: Persona): readonly Step[] {
  const effects = trace.calls.flatMap(({ effects }, call) => effects.map((effect) => ({ effect, call })));
  return effects.map(({ effect, call }, at) => {
    const sync = effects.findIndex(({ effect: later }, index) => index > at && makesLast(later, effect, persona));
    return { effect, call, lastsAfter: sync === -1 ? Number.POSITIVE_INFINITY : sync + 1 };
  });
}

function makesLast(later: Effect, effect: Effect, persona: Persona): boolean {
  if (later.kind !== 'sync') return false;
  if (persona === 'ordered' && effect.kind !== 'write') return true;
  return touched(effect).includes(later.inode);
}

function stepsBefore(steps: readonly Step[], point: number): number {
  const next = steps.findIndex(({ call }) => call >= point);
  return next === -1 ? steps.length : next;
}

/** What of the first steps is not on the disk, by index. */
interface Survival {
  readonly lost: ReadonlySet<number>;
  readonly torn?: { readonly at: number; readonly effect: Effect; readonly how: string };
}

/** The disk after any of the steps; built from the last disk before the first loss. */
class Trees {
  readonly #steps: readonly Step[];
  readonly #whole: Tree[];

  constructor(base: Tree, steps: readonly Step[]) {
    this.#steps = steps;
    this.#whole = [withEveryInode(base, steps)];
  }

  after(count: number, { lost, torn }: Survival): Tree {
    const from = Math.min(count, torn?.at ?? count, ...lost);
    if (from === count) return this.#wholeAfter(count);
    const tree = new Map(this.#wholeAfter(from));
    for (let at = from; at < count; at += 1) {
      if (lost.has(at)) continue;
      applyEffect(tree, at === torn?.at ? torn.effect : (this.#steps[at] as Step).effect);
    }
    return tree;
  }

  #wholeAfter(count: number): Tree {
    for (let made = this.#whole.length; made <= count; made += 1) {
      const tree = new Map(this.#whole[made - 1]);
      applyEffect(tree, (this.#steps[made - 1] as Step).effect);
      this.#whole.push(tree);
    }
    return this.#whole[count] as Tree;
  }
}

function* survivals(
  steps: readonly Step[],
  count: number,
  persona: Persona,
  selection: Selection,
): Generator<Survival> {
  if (persona === 'kill') {
    const lost = new Set<number>();
    yield { lost };
    const last = steps[count - 1]?.effect;
    if (last?.kind !== 'write') return;
    for (const torn of tornWrites(last, false, selection)) yield { lost, torn: { at: count - 1, ...torn } };
    return;
  }
  const pending = steps.slice(0, count).flatMap(({ effect, lastsAfter }, at) => {
    return effect.kind !== 'sync' && lastsAfter > count ? [at] : [];
  });
  const { combined = COMBINED } = selection;
  const isWrite = (at: number): boolean => steps[at]?.effect.kind === 'write';
  for (const lost of persona === 'ordered' ? orderedLosses(pending, isWrite, combined) : subsets(pending, combined)) {
    yield { lost: new Set(lost) };
    for (const at of pending) {
      if (!isWrite(at) || lost.includes(at)) continue;
      const write = (steps[at] as Step).effect as Effect & { kind: 'write' };
      for (const torn of tornWrites(write, true, selection)) yield { lost: new Set(lost), torn: { at, ...torn } };
    }
  }
}

/** Names last in order, and data by chance. */
function* orderedLosses(
  pending: readonly number[],
  isWrite: (at: number) => boolean,
  combined: number,
): Generator<readonly number[]> {
  const data = pending.filter(isWrite);
  const names = pending.filter((at) => !isWrite(at));
  for (let kept = names.length; kept >= 0; kept -= 1) {
    for (const lostData of subsets(data, combined)) yield [...names.slice(kept), ...lostData];
  }
}

/** The inodes of which one must be synced for an effect to last. */
function touched(effect: Effect): readonly number[] {
  switch (effect.kind) {
    case 'make':
    case 'link':
    case 'remove':
      return [effect.folder];
    case 'rename':
      return [effect.folder, effect.toFolder];
    default:
      return [effect.inode];
  }
}

function* subsets(items: readonly number[], combined: number): Generator<readonly number[]> {
  if (items.length <= combined) {
    for (let bits = 0; bits < 2 ** items.length; bits += 1) yield items.filter((_, at) => (bits >> at) % 2 === 1);
    return;
  }
  yield [];
  yield items;
  for (const one of items) {
    yield [one];
    yield items.filter((item) => item !== one);
  }
}

function* tornWrites(
  write: Effect & { kind: 'write' },
  zeroed: boolean,
  { tears = 'every byte' }: Selection,
): Generator<{ readonly effect: Effect; readonly how: string }> {
  const { length } = write.bytes;
  const lengths = tears === 'ends' ? new Set([0, 1, length >> 1, length - 1]) : tornLengths(length);
  for (const kept of lengths) {
    if (kept < 0 || kept >= length) continue;
    yield { effect: { ...write, bytes: write.bytes.subarray(0, kept) }, how: `torn at ${kept} of ${length}` };
  }
  if (!zeroed) return;
  for (const zeros of new Set([1, Math.ceil(length / 2), length])) {
    const bytes = new Uint8Array(write.bytes);
    bytes.fill(0, length - zeros);
    yield { effect: { ...write, bytes }, how: `last ${zeros} of ${length} zero` };
  }
}

function tornLengths(length: number): readonly number[] {
  const every = Array.from({ length }, (_, at) => at);
  if (length <= TORN_AT_EVERY_BYTE) return every;
  const step = Math.ceil(length / 48);
  return every.filter((at) => at < 3 || at > length - 3 || at === length >> 1 || at % step === 0);
}

// A name may last although the one that made the inode did not: the inode is there all the same.
function withEveryInode(base: Tree, steps: readonly Step[]): Tree {
  const tree = new Map(base);
  for (const { effect } of steps) if (effect.kind === 'make') tree.set(effect.inode, effect.as);
  return tree;
}

function describeLoss(steps: readonly Step[], { lost, torn }: Survival): string {
  const said = [...lost].map((at) => describe((steps[at] as Step).effect)).join(', ');
  return torn === undefined ? said : `${said} ${torn.how}`.trim();
}

function describe(effect: Effect): string {
  switch (effect.kind) {
    case 'make':
    case 'link':
    case 'remove':
      return `${effect.kind} ${effect.name}`;
    case 'rename':
      return `rename to ${effect.toName}`;
    default:
      return `${effect.kind} #${effect.inode}`;
  }
}

const contentHashes = new WeakMap<Uint8Array, string>();

/** Gives a text that two trees share if they hold the same names, modes, links and bytes, and no other two. */
export function treeKey(tree: Tree): string {
  const places = new Map<number, string>();
  const parts: string[] = [];
  function walk(number: number, path: string): void {
    const inode = tree.get(number) as Inode;
    const first = places.get(number);
    if (first !== undefined) {
      parts.push(`${path}=${first}`);
      return;
    }
    places.set(number, path);
    if (inode.kind === 'file') parts.push(`${path}:${inode.mode}:${hashOf(inode.data)}`);
    else if (inode.kind === 'link') parts.push(`${path}>${inode.target}`);
    else {
      parts.push(`${path}/${inode.mode}`);
      for (const name of [...inode.entries.keys()].sort()) walk(inode.entries.get(name) as number, `${path}/${name}`);
    }
  }
  walk(ROOT_INODE, '');
  return createHash('sha1').update(parts.join('\n')).digest('base64');
}

function hashOf(data: Uint8Array): string {
  let hash = contentHashes.get(data);
  if (hash === undefined) {
    hash = createHash('sha1').update(data).digest('base64');
    contentHashes.set(data, hash);
  }
  return hash;
}
