import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  COMPLETION_CALLBACK,
  completionScript,
  quoteForPowerShell,
  SHELLS,
} from '../../../src/cli/completion/completions.js';
import { runCommandLine } from '../../support/run-cli.js';

const FOLDER = new URL('../../../completions/', import.meta.url);
const FILES = {
  bash: 'zero-sessions.bash',
  zsh: '_zero-sessions',
  fish: 'zero-sessions.fish',
  powershell: 'zero-sessions.ps1',
} as const;

describe('completions/', () => {
  // When it fails: zero-sessions completion <shell> > completions/<file>
  test.each(SHELLS)('given %s, then the committed script is what the program prints', async (shell) => {
    const run = await runCommandLine(['completion', shell]);

    expect(run).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(new URL(FILES[shell], FOLDER), 'utf8')).toBe(run.out);
  });

  test('given its files, then there is none but these', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(Object.values(FILES).sort());
  });

  test.each(SHELLS)('given the script for %s, then nothing in it evaluates text', (shell) => {
    expect(completionScript(shell)).toContain(COMPLETION_CALLBACK);
    expect(completionScript(shell)).not.toMatch(/\beval\b|compgen|\biex\b|Invoke-Expression|\$\{\(e\)|ExpandString/i);
  });
});

describe('zero-sessions completion', () => {
  test.each([[['completion']], [['completion', 'tcsh']], [['completion', 'zsh', '--json', '--jsonl']]])(
    'given %j, then it exits 2',
    async (argv) => {
      expect((await runCommandLine(argv)).code).toBe(2);
    },
  );
});

describe('quoteForPowerShell', () => {
  test.each([
    ['plain', "'plain'"],
    ["it's", "'it''s'"],
    ["''", "''''''"],
    ['$(touch pwned) `n "', "'$(touch pwned) `n \"'"],
    ['a\u2019b\u201ac', "'a\u2019\u2019b\u201a\u201ac'"],
  ])('52. given %j, then the parser reads it as it was', (text, quoted) => {
    expect(quoteForPowerShell(text)).toBe(quoted);
    expect(parsePowerShell(quoted)).toEqual([{ quote: "'", text }]);
  });
});

describe('the script for PowerShell, read by the rules of its parser', () => {
  const script = completionScript('powershell');
  const strings = parsePowerShell(script);

  test('52. given its strings, then each is closed, and none is one that expands', () => {
    expect(strings.filter(({ quote }) => quote !== "'")).toEqual([]);
    expect(strings.map(({ text }) => text)).toEqual([
      ...['zero-sessions', COMPLETION_CALLBACK, 'powershell', '', 'zero-sessions'],
      ...[':', '^[A-Za-z0-9-][A-Za-z0-9._:/+=-]*$', "'", "'", "''", "'", 'ParameterValue'],
    ]);
  });

  test('given its brackets outside strings, then each has its other half', () => {
    const code = script.replace(/^#.*$|(?<= )#.*$/gm, '').replace(/'(?:[^']|'')*'/g, '');
    const open: string[] = [];
    for (const bracket of code.match(/[()[\]{}]/g) ?? []) {
      if ('([{'.includes(bracket)) open.push(bracket);
      else expect(`${open.pop()}${bracket}`).toMatch(/^(?:\(\)|\[\]|\{\})$/);
    }

    expect(open).toEqual([]);
  });
});

interface PowerShellString {
  readonly quote: string;
  readonly text: string;
}

/** Gives the strings of PowerShell source: a doubled quote stands for one, comments go to the end of their line. */
function parsePowerShell(source: string): readonly PowerShellString[] {
  const strings: PowerShellString[] = [];
  const singles = "'\u2018\u2019\u201a\u201b";
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (character === '#' && /\s|^$/.test(source.charAt(at - 1))) {
      at = source.indexOf('\n', at);
    } else if (singles.includes(character) || character === '"') {
      const ends = character === '"' ? '"' : singles;
      let text = '';
      for (at += 1; at < source.length; at += 1) {
        const next = source.charAt(at);
        if (ends.includes(next)) {
          if (!ends.includes(source.charAt(at + 1)) || source.charAt(at + 1) === '') break;
          at += 1;
        }
        text += next;
      }
      if (at >= source.length) throw new Error(`No end to the string ${text}`);
      strings.push({ quote: character, text });
    }
  }
  return strings;
}
