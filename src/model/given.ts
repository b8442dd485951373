import { InvalidArgumentError } from '../errors.js';

// A caller in plain JavaScript gets our error for what TypeScript refuses, and not one of the engine.

export function givenOptions<T extends object>(options: T, argument: string): T {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(options)}, not an object`);
}

export function givenList<T>(list: readonly T[], argument: string): readonly T[] {
  if (Array.isArray(list)) return list;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(list)}, not a list`);
}

export function givenText(text: string, argument: string): string {
  if (typeof text === 'string') return text;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(text)}, not a text`);
}

export function givenTexts(texts: readonly string[], argument: string): readonly string[] {
  return givenList(texts, argument).map((text) => givenText(text, `one of ${argument}`));
}

export function givenFunction<T extends (...given: never[]) => unknown>(work: T, argument: string): T {
  if (typeof work === 'function') return work;
  throw new InvalidArgumentError(argument, `${argument} is ${nameOf(work)}, not a function`);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return `${value}`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
