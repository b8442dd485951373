import type { OptionSpec } from '../command.js';

const NEGATIVE_NUMBER = /^-(?:\d+|\d*\.\d+)$/;

/** Tells whether a word of a command line is a flag by its form: `-`, and a number below zero, are none. */
export function isFlagWord(text: string): boolean {
  return text.length > 1 && text.startsWith('-') && !NEGATIVE_NUMBER.test(text);
}

/** Gives the names of a flag, the long one last: `-q, --quiet` has two. */
export function flagNames({ flags }: Pick<OptionSpec, 'flags'>): readonly string[] {
  return flags.replace(/ [<[].*$/, '').split(', ');
}

/** Tells whether a value follows a flag: `--to <position>` always has one, `--exec [command]` may have one. */
export function takesValue({ flags }: Pick<OptionSpec, 'flags'>): 'always' | 'maybe' | 'never' {
  if (/ <.*>$/.test(flags)) return 'always';
  return / \[.*\]$/.test(flags) ? 'maybe' : 'never';
}
