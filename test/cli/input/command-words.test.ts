import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/errors.js';
import { quoteWords, splitWords } from '../../../src/cli/input/command-words.js';

describe('a command that is given as one text', () => {
  test.each([
    ['zero exec --resume {}', ['zero', 'exec', '--resume', '{}']],
    ['  a\tb  ', ['a', 'b']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a'b'"c"d`, ['abcd']],
    [`'' ""`, ['', '']],
    ['a\\ b', ['a b']],
    [`"a \\" \\\\ \\n"`, ['a " \\ \\n']],
    [`'\\'`, ['\\']],
    ['a\\', ['a\\']],
    ['echo $HOME $(id) `id` * ~ ; rm -rf / | cat > x', 'echo $HOME $(id) `id` * ~ ; rm -rf / | cat > x'.split(' ')],
  ])('given %s, then its words are %j, and nothing is expanded', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test.each([`'a`, `a "b`, '', '  '])('given %j, then it is refused', (line) => {
    expect(() => splitWords(line)).toThrow(UsageError);
  });

  test.each([
    [['zero', 'exec', '--resume', 'id_1-2'], 'zero exec --resume id_1-2'],
    [['cd', "/it's here"], `cd '/it'\\''s here'`],
    [['', '$(id)'], `'' '$(id)'`],
  ])('given the words %j, then a shell that reads %s takes them as they are', (words, line) => {
    expect(quoteWords(words)).toBe(line);
    expect(splitWords(line)).toEqual(words);
  });
});
