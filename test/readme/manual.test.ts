import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OptionSpec } from '../../src/cli/command.js';
import { GLOBAL_OPTIONS } from '../../src/cli/input/global-options.js';
import { COMMANDS, LATER_COMMANDS } from '../../src/cli/registry.js';
import { EXIT_CODES } from '../../src/cli/report/exit-codes.js';
import { anchorsOf, PROJECT, proseOf, readPage } from './markdown.js';

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'test/golden/README.md', 'test/golden/DIFFERENCES.md'],
  ...readdirSync(join(PROJECT, 'docs')).map((name) => `docs/${name}`),
];

describe('the links of the manual', () => {
  test.each(PAGES)('given %s, then each leads to something that is there', (page) => {
    expect(linksOf(page).filter((link) => !isThere(page, link))).toEqual([]);
  });

  test('given a link to nothing, then it is found', () => {
    expect(isThere('docs/CLI.md', 'FORMAT.md#9-nothing')).toBe(false);
    expect(isThere('docs/CLI.md', 'NOTHING.md')).toBe(false);
    expect(isThere('README.md', 'docs/CLI.md#exit-codes')).toBe(true);
  });
});

describe('docs/CLI.md', () => {
  const manual = readPage('docs/CLI.md');
  const sections = sectionsOf(manual);
  const namesOfProgram = new Set(COMMANDS.map(({ name }) => name));
  const wordsOfProgram = new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? name));

  test('given the flags that every command has, then it has them all, and no other', () => {
    const shape = manual.slice(manual.indexOf('## Shape'), manual.indexOf('### Sessions'));
    const own = ['-h, --help', '-V, --version'];

    expect(flagsIn(shape).sort()).toEqual([...GLOBAL_OPTIONS.map(formOf), ...own].sort());
  });

  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    'given the command %s, then it has its flags, and no other',
    async (name, { load }) => {
      const { options } = await load();

      expect(flagsIn(sections.get(name) ?? '').sort()).toEqual(options.map(formOf).sort());
    },
  );

  test('given what is not there yet, then the program has none of it, and all else that is described', () => {
    const later = manual.slice(manual.indexOf('## Not there yet')).matchAll(/`([a-z]+)`/g);
    const names = [...later].map(([, name = '']) => name);
    const described = [...sections.keys()];

    expect(names.filter((name) => wordsOfProgram.has(name))).toEqual([]);
    expect(described.filter((name) => !namesOfProgram.has(name) && !names.includes(name))).toEqual([]);
    expect([...namesOfProgram].filter((name) => !sections.has(name))).toEqual([]);
    expect(LATER_COMMANDS.filter((name) => name !== 'rm' && !names.includes(name))).toEqual([]);
  });

  test('given the exit codes of the program, then it has each of them', () => {
    const table = manual.slice(manual.indexOf('## Exit codes'), manual.indexOf('## JSON'));
    const codes = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));

    expect(codes).toEqual([...new Set([0, ...Object.values(EXIT_CODES)])].sort((a, b) => a - b));
  });
});

function linksOf(page: string): readonly string[] {
  const links = proseOf(readPage(page)).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link));
}

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(PROJECT, target))) return false;
  return anchor === undefined || anchorsOf(readPage(target)).has(anchor);
}

/** Gives what stands under each command's heading. */
function sectionsOf(manual: string): ReadonlyMap<string, string> {
  const commands = manual.slice(manual.indexOf('## Commands\n'), manual.indexOf('## Not there yet'));
  const sections = commands.split(/^### /m).slice(1);
  return new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section] as const));
}

/** Gives the flags of the tables, without the names of their values: `-q, --quiet`, `--to <>`, `--undo []`. */
function flagsIn(section: string): string[] {
  return [...section.matchAll(/^\| `(-[^`]+)` \|/gm)].map(([, flags = '']) => withoutName(flags));
}

function formOf({ flags }: OptionSpec): string {
  return withoutName(flags);
}

function withoutName(flags: string): string {
  return flags.replace(/ <.*>$/, ' <>').replace(/ \[.*\]$/, ' []');
}
