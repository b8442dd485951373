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
/** More effects that may or may not be there than this are not enumerated: all, none, each alone, all but each. */
const MAX_SUBSETS_OF = 7;

/** Takes one of so many states, beginning with one of them. */
export interface Sample {
  readonly step: number;
  readonly first: number;
}

const EVERY: Sample = { step: 1, first: 0 };

/** Gives how many states there are before equal ones are dropped. */
export function countStates(trace: Trace, persona: Persona): number {
  let count = 0;
  for (let point = 0; point <= trace.calls.length; point += 1) {
    const done = trace.calls.slice(0, point).flatMap(({ effects }) => effects);
    for (const _ of survivals(done, persona)) count += 1;
  }
  return count;
}

/**
 * Gives every state that a crash can leave: before the first call, after each, inside each write, and after the
 * caller was told. Equal ones are given once.
 */
export function crashStates(trace: Trace, persona: Persona, sample: Sample = EVERY): CrashStates {
  const effects = trace.calls.flatMap(({ effects }, call) => effects.map((effect) => ({ effect, call })));
  const base = withEveryInode(trace.base, effects);
  const seen = new Set<string>();
  const states: CrashState[] = [];
  const generatedAt: number[] = [];
  let made = 0;
  for (let point = 0; point <= trace.calls.length; point += 1) {
    const done = effects.filter(({ call }) => call < point).map(({ effect }) => effect);
    const acknowledged = trace.acknowledgedAfter !== undefined && point >= trace.acknowledgedAfter;
    let generated = 0;
    for (const { chosen, lost } of survivals(done, persona)) {
      made += 1;
      if (made % sample.step !== sample.first % sample.step) continue;
      const tree = built(base, chosen);
      // Just before the caller is told, the same disk is a state in which nobody was told.
      const told = acknowledged && point === trace.acknowledgedAfter ? [false, true] : [acknowledged];
      const key = treeKey(tree);
      generated += told.length;
      for (const acknowledged of told) {
        const marked = `${key} ${acknowledged}`;
        if (seen.has(marked)) continue;
        seen.add(marked);
        states.push({ tree, key, acknowledged, point, lost });
      }
    }
    generatedAt.push(generated);
  }
  return { states, generatedAt };
}

interface Survival {
  readonly chosen: readonly Effect[];
  readonly lost: string;
}

function* survivals(done: readonly Effect[], persona: Persona): Generator<Survival> {
  if (persona === 'kill') {
    yield { chosen: done, lost: '' };
    const last = done.at(-1);
    if (last?.kind !== 'write') return;
    for (const torn of tornWrites(last, false)) yield { chosen: [...done.slice(0, -1), torn.effect], lost: torn.how };
    return;
  }
  for (const lost of persona === 'ordered' ? orderedLosses(done) : weakestLosses(done)) {
    const chosen = done.filter((_, at) => !lost.has(at));
    const said = [...lost].map((at) => describe(done[at] as Effect)).join(', ');
    yield { chosen, lost: said };
    for (const [at, effect] of done.entries()) {
      if (effect.kind !== 'write' || lost.has(at) || isSynced(done, at, persona)) continue;
      const place = chosen.indexOf(effect);
      for (const torn of tornWrites(effect, true)) {
        yield { chosen: chosen.with(place, torn.effect), lost: `${said} ${torn.how}` };
      }
    }
  }
}

/** Names last in order; a sync of anything makes all names before it last. Data by chance. */
function* orderedLosses(done: readonly Effect[]): Generator<ReadonlySet<number>> {
  const lastSync = done.findLastIndex(({ kind }) => kind === 'sync');
  const data = indices(done, (effect, at) => effect.kind === 'write' && !isSynced(done, at, 'ordered'));
  const names = indices(done, (effect, at) => at > lastSync && effect.kind !== 'write' && effect.kind !== 'sync');
  for (let kept = names.length; kept >= 0; kept -= 1) {
    for (const lostData of subsets(data)) yield new Set([...names.slice(kept), ...lostData]);
  }
}

function* weakestLosses(done: readonly Effect[]): Generator<ReadonlySet<number>> {
  const pending = indices(done, (effect, at) => effect.kind !== 'sync' && !isSynced(done, at, 'weakest'));
  for (const lost of subsets(pending)) yield new Set(lost);
}

function isSynced(done: readonly Effect[], at: number, persona: Persona): boolean {
  const effect = done[at] as Effect;
  return done.some((later, index) => {
    if (index <= at || later.kind !== 'sync') return false;
    if (persona === 'ordered' && effect.kind !== 'write') return true;
    return touched(effect).includes(later.inode);
  });
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

function indices(done: readonly Effect[], wanted: (effect: Effect, at: number) => boolean): readonly number[] {
  return done.flatMap((effect, at) => (wanted(effect, at) ? [at] : []));
}

function* subsets(items: readonly number[]): Generator<readonly number[]> {
  if (items.length <= MAX_SUBSETS_OF) {
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
): Generator<{ readonly effect: Effect; readonly how: string }> {
  const { length } = write.bytes;
  for (const kept of tornLengths(length)) {
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
function withEveryInode(base: Tree, effects: readonly { readonly effect: Effect }[]): Tree {
  const tree = new Map(base);
  for (const { effect } of effects) if (effect.kind === 'make') tree.set(effect.inode, effect.as);
  return tree;
}

function built(base: Tree, effects: readonly Effect[]): Tree {
  const tree = new Map<number, Inode>(base);
  for (const effect of effects) applyEffect(tree, effect);
  return tree;
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
