import { countBefore } from '../../model/count-before.js';

const FIRST_CAPACITY = 1024;

/**
 * Which events of a log have been copied to a fork: the nth has the sequence n there.
 * Plain numbers, so that a copy of a million events needs no more than some megabytes.
 */
export class CopiedEvents {
  readonly #prefix: string;
  #count = 0;
  #sequences = new Float64Array(FIRST_CAPACITY);
  #types = new Uint32Array(FIRST_CAPACITY);
  readonly #typeNumbers = new Map<string, number>();
  // Zero and we give every event the id `<sessionId>:<sequence>`; only other ids have to be remembered.
  readonly #oddIds = new Map<string, number>();
  readonly #odd = new Set<number>();

  constructor(parentId: string) {
    this.#prefix = `${parentId}:`;
  }

  get count(): number {
    return this.#count;
  }

  add({ id, sequence, type }: { readonly id: string; readonly sequence: number; readonly type: string }): number {
    if (this.#count === this.#sequences.length) this.#grow();
    this.#sequences[this.#count] = sequence;
    this.#types[this.#count] = this.#numberOf(type);
    this.#count += 1;
    const copy = this.#count;
    if (!this.#isUsualId(id, sequence)) {
      this.#oddIds.set(id, copy);
      this.#odd.add(copy);
    }
    return copy;
  }

  /** The sequence in the fork of the event with this id in the parent, or undefined when it was not copied. */
  sequenceOf(id: string): number | undefined {
    const odd = this.#oddIds.get(id);
    if (odd !== undefined || !this.isIdOfParent(id)) return odd;
    const sequence = Number(id.slice(this.#prefix.length));
    const copy = this.countThrough(sequence);
    return this.#sequences[copy - 1] === sequence && !this.#odd.has(copy) ? copy : undefined;
  }

  /** Whether an id is of the form that the parent gives to its events, whether it has such an event or not. */
  isIdOfParent(id: string): boolean {
    return id.startsWith(this.#prefix);
  }

  /** How many copied events have at most this sequence in the parent: the sequence of the last of them in the fork. */
  countThrough(sequence: number): number {
    return countBefore(this.#count, (index) => (this.#sequences[index] as number) <= sequence);
  }

  isOfType(sequence: number, type: string): boolean {
    return sequence <= this.#count && this.#types[sequence - 1] === this.#typeNumbers.get(type);
  }

  // Without making the id anew: that would be the largest part of what a copy of many small events leaves behind.
  #isUsualId(id: string, sequence: number): boolean {
    return this.isIdOfParent(id) && id.slice(this.#prefix.length) === String(sequence);
  }

  #numberOf(type: string): number {
    const known = this.#typeNumbers.get(type);
    if (known === undefined) this.#typeNumbers.set(type, this.#typeNumbers.size);
    return known ?? this.#typeNumbers.size - 1;
  }

  #grow(): void {
    const sequences = new Float64Array(this.#count * 2);
    const types = new Uint32Array(this.#count * 2);
    sequences.set(this.#sequences);
    types.set(this.#types);
    this.#sequences = sequences;
    this.#types = types;
  }
}
