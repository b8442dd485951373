import type { Numbered } from '../../model/ids.js';
import { rawJson } from '../../model/json.js';
import type { JsonView } from './json.js';

/** Gives a whole number with its digits in groups of three: `1,234,567`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Gives the sequence of an event as JSON: exact, also where a number cannot hold it. */
export function sequenceJson(event: Numbered): JsonView {
  return event.exactSequence === undefined ? event.sequence : rawJson(event.exactSequence);
}

/** Gives a count with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}
