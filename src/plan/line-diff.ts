import { countBefore } from '../model/count-before.js';

/** A line of a file: its text, and whether it ends in a newline, which only the last may lack. */
interface DiffLine {
  readonly text: string;
  readonly ended: boolean;
}

interface HunkLine extends DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
}

export interface Hunk {
  /** 1-based; the line before when there are none, as in every unified diff. */
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  readonly lines: readonly HunkLine[];
}

const CONTEXT_LINES = 3;
// Myers' search is quadratic in what differs. Beyond this the texts are parted at lines that both have once.
const MAX_EDITS = 500;

/**
 * What differs between two texts, as hunks of a unified diff with three lines around each change.
 * Long texts with little in common get a longer diff than the shortest, never a wrong one.
 */
export function diffLines(oldText: string, newText: string): readonly Hunk[] {
  const before = splitLines(oldText);
  const after = splitLines(newText);
  return hunksOf(before, after, changesBetween(numbered(before, after)));
}

/** The lines of a text, without their ends; CR is part of a line. */
export function splitLines(text: string): readonly DiffLine[] {
  const parts = text.split('\n');
  const last = parts.pop() ?? '';
  const lines = parts.map((part) => ({ text: part, ended: true }));
  return last === '' ? lines : [...lines, { text: last, ended: false }];
}

interface Numbered {
  readonly before: Int32Array;
  readonly after: Int32Array;
}

/** Lines `oldFrom` to `oldTo` gave way to lines `newFrom` to `newTo`; ends are exclusive. */
interface Change {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

function numbered(before: readonly DiffLine[], after: readonly DiffLine[]): Numbered {
  const numbers = new Map<string, number>();
  const numberOf = ({ text, ended }: DiffLine): number => {
    const key = ended ? `${text}\n` : text;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  return { before: Int32Array.from(before, numberOf), after: Int32Array.from(after, numberOf) };
}

/** The changes in order; parts that are too different are parted further, on a list of our own. */
function changesBetween(lines: Numbered): readonly Change[] {
  const changes: Change[] = [];
  const open: Change[] = [{ oldFrom: 0, oldTo: lines.before.length, newFrom: 0, newTo: lines.after.length }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const middle = withoutEqualEnds(lines, part);
    if (middle.oldFrom === middle.oldTo && middle.newFrom === middle.newTo) continue;
    if (middle.oldFrom === middle.oldTo || middle.newFrom === middle.newTo) {
      changes.push(middle);
      continue;
    }
    const shortest = shortestChanges(lines, middle);
    if (shortest !== undefined) {
      changes.push(...shortest);
      continue;
    }
    const parts = partedAtUniqueLines(lines, middle);
    if (parts.length < 2) changes.push(middle);
    else open.push(...parts.reverse());
  }
  return changes.sort((a, b) => a.oldFrom - b.oldFrom || a.newFrom - b.newFrom);
}

function withoutEqualEnds({ before, after }: Numbered, part: Change): Change {
  let { oldFrom, oldTo, newFrom, newTo } = part;
  while (oldFrom < oldTo && newFrom < newTo && before[oldFrom] === after[newFrom]) {
    oldFrom += 1;
    newFrom += 1;
  }
  while (oldFrom < oldTo && newFrom < newTo && before[oldTo - 1] === after[newTo - 1]) {
    oldTo -= 1;
    newTo -= 1;
  }
  return { oldFrom, oldTo, newFrom, newTo };
}

/**
 * The shortest list of changes (Myers 1986), or undefined when it has more than {@link MAX_EDITS}.
 * `reach[k]` is how far down the old lines diagonal k got; the reach before each round is kept to walk back by.
 */
function shortestChanges({ before, after }: Numbered, part: Change): readonly Change[] | undefined {
  const oldCount = part.oldTo - part.oldFrom;
  const newCount = part.newTo - part.newFrom;
  const most = Math.min(MAX_EDITS, oldCount + newCount);
  const offset = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const rounds: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    rounds.push(reach.slice(offset - edits - 1, offset + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      let x = cameFromAbove(reach, offset, k, edits) ? at(reach, offset + k + 1) : at(reach, offset + k - 1) + 1;
      while (x < oldCount && x - k < newCount && before[part.oldFrom + x] === after[part.newFrom + x - k]) {
        x += 1;
      }
      reach[offset + k] = x;
      if (x >= oldCount && x - k >= newCount) return walkBack(rounds, part);
    }
  }
  return undefined;
}

function cameFromAbove(reach: Int32Array, offset: number, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && at(reach, offset + k - 1) < at(reach, offset + k + 1));
}

function walkBack(rounds: readonly Int32Array[], part: Change): readonly Change[] {
  const changes: Change[] = [];
  let x = part.oldTo - part.oldFrom;
  let y = part.newTo - part.newFrom;
  for (let edits = rounds.length - 1; edits > 0; edits -= 1) {
    const reach = rounds[edits] as Int32Array;
    const offset = edits + 1;
    const isInsertion = cameFromAbove(reach, offset, x - y, edits);
    const k = isInsertion ? x - y + 1 : x - y - 1;
    const previousX = at(reach, offset + k);
    const previousY = previousX - k;
    // What lies between is equal: the edit is where that began.
    const oldFrom = part.oldFrom + previousX;
    const newFrom = part.newFrom + previousY;
    changes.push({ oldFrom, oldTo: oldFrom + (isInsertion ? 0 : 1), newFrom, newTo: newFrom + (isInsertion ? 1 : 0) });
    x = previousX;
    y = previousY;
  }
  return changes;
}

/** Parts two texts at the lines that each has exactly once, the most of them that stand in the same order. */
function partedAtUniqueLines({ before, after }: Numbered, part: Change): Change[] {
  const inOld = placesOfUnique(before, part.oldFrom, part.oldTo);
  const inNew = placesOfUnique(after, part.newFrom, part.newTo);
  const pairs: (readonly [number, number])[] = [];
  for (const [line, oldAt] of inOld) {
    const newAt = inNew.get(line);
    if (newAt !== undefined) pairs.push([oldAt, newAt]);
  }
  pairs.sort(([a], [b]) => a - b);
  const parts: Change[] = [];
  let { oldFrom, newFrom } = part;
  for (const [oldAt, newAt] of longestRising(pairs)) {
    parts.push({ oldFrom, oldTo: oldAt, newFrom, newTo: newAt });
    oldFrom = oldAt + 1;
    newFrom = newAt + 1;
  }
  return [...parts, { oldFrom, oldTo: part.oldTo, newFrom, newTo: part.newTo }];
}

function placesOfUnique(lines: Int32Array, from: number, to: number): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  const repeated = new Set<number>();
  for (let index = from; index < to; index += 1) {
    const line = at(lines, index);
    if (places.has(line)) repeated.add(line);
    places.set(line, index);
  }
  for (const line of repeated) places.delete(line);
  return places;
}

/** The longest part of the pairs in which the second numbers rise, too. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const ends: number[] = []; // index of the pair that ends the best row of each length
  const before: (number | undefined)[] = [];
  pairs.forEach(([, second], index) => {
    const low = countBefore(ends.length, (at) => (pairs[ends[at] as number]?.[1] ?? 0) < second);
    before[index] = ends[low - 1];
    ends[low] = index;
  });
  const row: (readonly [number, number])[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index]) {
    row.push(pairs[index] as readonly [number, number]);
  }
  return row.reverse();
}

/** Puts changes that are near each other into one hunk, with the lines around them. */
function hunksOf(before: readonly DiffLine[], after: readonly DiffLine[], changes: readonly Change[]): readonly Hunk[] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.oldFrom - last.oldTo <= 2 * CONTEXT_LINES)
      group.push(change);
    else groups.push([change]);
  }
  return groups.map((group) => hunkOf(before, after, group));
}

function hunkOf(before: readonly DiffLine[], after: readonly DiffLine[], group: readonly Change[]): Hunk {
  const first = group[0] as Change;
  const last = group.at(-1) as Change;
  const lead = Math.min(CONTEXT_LINES, first.oldFrom);
  const end = Math.min(before.length, last.oldTo + CONTEXT_LINES);
  const lines: HunkLine[] = [];
  const add = (kind: HunkLine['kind'], from: readonly DiffLine[], start: number, stop: number) => {
    for (const line of from.slice(start, stop)) lines.push({ kind, ...line });
  };
  let oldAt = first.oldFrom - lead;
  for (const { oldFrom, oldTo, newFrom, newTo } of merged(group)) {
    add('same', before, oldAt, oldFrom);
    add('removed', before, oldFrom, oldTo);
    add('added', after, newFrom, newTo);
    oldAt = oldTo;
  }
  add('same', before, oldAt, end);
  const oldStart = first.oldFrom - lead;
  const newStart = first.newFrom - lead;
  const oldCount = end - oldStart;
  const newCount = last.newTo + (end - last.oldTo) - newStart;
  return {
    oldStart: oldCount === 0 ? oldStart : oldStart + 1,
    oldCount,
    newStart: newCount === 0 ? newStart : newStart + 1,
    newCount,
    lines,
  };
}

/** Joins changes without a line between them: what is removed stands before what is added. */
function merged(group: readonly Change[]): readonly Change[] {
  const joined: Change[] = [];
  for (const change of group) {
    const last = joined.at(-1);
    if (last !== undefined && last.oldTo === change.oldFrom && last.newTo === change.newFrom) {
      joined[joined.length - 1] = { ...last, oldTo: change.oldTo, newTo: change.newTo };
    } else {
      joined.push(change);
    }
  }
  return joined;
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}
