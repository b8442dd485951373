import { InvalidArgumentError } from '../errors.js';

// TypeScript refuses what is refused here; a caller in plain JavaScript is told by us, and not by the engine.

/**
 * Gives the options that a caller has given.
 * @param argument - The name that they have in the signature.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when they are no object.
 */
export function givenOptions<T extends object>(options: T, argument: string): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(options)}, not an object`);
}

/**
 * Gives the list that a caller has given.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when it is none.
 */
export function givenList<T>(list: readonly T[], argument: string): readonly T[] {
  if (Array.isArray(list)) return list;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(list)}, not a list`);
}

/**
 * Gives the text that a caller has given.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when it is none.
 */
export function givenText(text: string, argument: string): string {
  if (typeof text === 'string') return text;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(text)}, not a text`);
}

/** Gives the texts that a caller has given; else as {@link givenList}. */
export function givenTexts(texts: readonly string[], argument: string): readonly string[] {
  return givenList(texts, argument).map((text) => givenText(text, `one of ${argument}`));
}

/**
 * Gives the function that a caller has given.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when it is none.
 */
export function givenFunction<T extends (...given: never[]) => unknown>(work: T, argument: string): T {
  if (typeof work === 'function') return work;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(work)}, not a function`);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return `${value}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
