import { type Numbered, sequenceText } from './ids.js';

/** A line whose sequence is not above all before it: Zero makes one when it appends after its count was lowered. */
export interface Disorder {
  readonly line: number;
  readonly sequence: number;
  /** The line that has the same sequence, if any. */
  readonly twin: number | undefined;
  readonly message: string;
}

export interface NumberedLine {
  readonly event: Numbered;
  readonly line: number;
}

/** Watches whether the sequences of a log rise from line to line, as they have to (FORMAT.md, 3). */
export class SequenceOrder {
  readonly #reread: () => Iterable<NumberedLine>;
  #highest: Numbered | undefined;
  #lines: Map<string, number> | undefined;

  /** @param reread - Reads the log once more: which line has which sequence is asked in disorder only. */
  constructor(reread: () => Iterable<NumberedLine>) {
    this.#reread = reread;
  }

  take(event: Numbered, line: number): Disorder | undefined {
    const highest = this.#highest;
    const rises = highest === undefined || isAbove(event, highest);
    if (rises) this.#highest = event;
    const text = sequenceText(event);
    const found = rises ? undefined : this.#disorderAt(line, event.sequence, text, highest);
    if (this.#lines?.has(text) === false) this.#lines.set(text, line);
    return found;
  }

  #disorderAt(line: number, sequence: number, text: string, highest: Numbered): Disorder {
    this.#lines ??= this.#linesBefore(line);
    const twin = this.#lines.get(text);
    const message =
      twin === undefined
        ? `has the sequence ${text}, though ${sequenceText(highest)} stands before it`
        : `has the sequence ${text}, which line ${twin} has as well`;
    return { line, sequence, twin, message };
  }

  #linesBefore(end: number): Map<string, number> {
    const lines = new Map<string, number>();
    for (const { event, line } of this.#reread()) {
      if (line >= end) break;
      const text = sequenceText(event);
      if (!lines.has(text)) lines.set(text, line);
    }
    return lines;
  }
}

/** Whether one sequence is above another, exact however large they are. */
export function isAbove(event: Numbered, other: Numbered): boolean {
  if (event.exactSequence === undefined && other.exactSequence === undefined) return event.sequence > other.sequence;
  return BigInt(sequenceText(event)) > BigInt(sequenceText(other));
}
