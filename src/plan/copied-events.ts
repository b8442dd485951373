/**
 * Which events of a log have been copied to a fork, in the order of the copy: the nth has the sequence n there.
 *
 * Numbers and shared type names only, so that a copy of a million events needs no more than some megabytes.
 */
export class CopiedEvents {
  readonly #parentId: string;
  readonly #sequences: number[] = [];
  readonly #types: string[] = [];
  readonly #typeNames = new Map<string, string>();
  // Zero and we give every event the id `<sessionId>:<sequence>`; only other ids have to be remembered.
  readonly #oddIds = new Map<string, number>();
  readonly #odd = new Set<number>();

  constructor(parentId: string) {
    this.#parentId = parentId;
  }

  get count(): number {
    return this.#sequences.length;
  }

  /** Notes one more event as copied, and gives its sequence in the fork. */
  add({ id, sequence, type }: { readonly id: string; readonly sequence: number; readonly type: string }): number {
    const copy = this.#sequences.push(sequence);
    this.#types.push(this.#shared(type));
    if (id !== `${this.#parentId}:${sequence}`) {
      this.#oddIds.set(id, copy);
      this.#odd.add(copy);
    }
    return copy;
  }

  /** Gives the sequence in the fork of the event with this id in the parent, or undefined when it was not copied. */
  sequenceOf(id: string): number | undefined {
    const odd = this.#oddIds.get(id);
    if (odd !== undefined || !this.isIdOfParent(id)) return odd;
    const sequence = Number(id.slice(this.#parentId.length + 1));
    const copy = this.countThrough(sequence);
    return this.#sequences[copy - 1] === sequence && !this.#odd.has(copy) ? copy : undefined;
  }

  /** Tells whether an id is of the form that the parent gives to its events, whether it has such an event or not. */
  isIdOfParent(id: string): boolean {
    return id.startsWith(`${this.#parentId}:`);
  }

  /** Gives how many copied events have at most this sequence in the parent: the sequence of the last of them in the fork. */
  countThrough(sequence: number): number {
    let low = 0;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sequences[middle] as number) <= sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Gives the type of the event with this sequence in the fork. */
  typeOf(sequence: number): string | undefined {
    return this.#types[sequence - 1];
  }

  #shared(type: string): string {
    const known = this.#typeNames.get(type);
    if (known === undefined) this.#typeNames.set(type, type);
    return known ?? type;
  }
}
