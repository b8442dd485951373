import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runCommandLine } from '../support/run-cli.js';
import { blocksOf, commandsOf, PROJECT, readPage, type Shown } from './markdown.js';

// The README's commands, as they stand, in the folder that `demo` made, after its whole tour: sessions of Zero, one with a
// workspace, and the one that the demo tries things on. The demo's clock is set, so its times are those in the README. What
// else changes from run to run has a placeholder.
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  '<id>': '[0-9A-HJKMNP-TV-Z]{26}',
  '<time>': '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ',
};
// Not run here: .ci/run installs a clean clone, test/cli/commands/demo.test.ts runs the demo, and this is the test.
const INSTALL_BLOCKS = ['npm install && npm run demo', 'npm install && npm test', 'npm link'];

const blocks = blocksOf(readPage('README.md'));
const shown = blocks.filter(({ language }) => language === 'console').flatMap(commandsOf);

let folder = '';
let outputs: readonly string[] = [];

beforeAll(async () => {
  const { out } = await runCommandLine(['demo'], { now: () => new Date('2026-07-09T12:00:00Z') });
  folder = realpathSync(/^ {2}rm -r (\S+)$/m.exec(out)?.[1] ?? '');
  expect(out).toContain('zero_golden_');
  outputs = runInOneShell(shown.map(({ command }) => command.replace('<folder>', folder)));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the blocks of the README', () => {
  test('given any, then it is of a kind that is run or compared here', () => {
    expect(blocks.filter(({ language }) => !['sh', 'console', 'ts', 'text'].includes(language))).toEqual([]);
  });

  test('given those for a shell, then they are the ones that are known, and the package has their scripts', () => {
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);

    expect(commands).toEqual(INSTALL_BLOCKS);
    expect(packageJson.scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
  });

  test('given the library, then there is one example and what it prints', () => {
    expect(blocks.map(({ language }) => language).filter((each) => each === 'ts' || each === 'text')).toEqual([
      'ts',
      'text',
    ]);
  });
});

describe('a command of the README', () => {
  test.each(shown.map((each, at) => [each.command, each, at] as const))(
    'given %s, then it prints what is shown',
    (_, command, at) => {
      expect(matches(outputs[at] ?? '', command)).toBe('as shown');
    },
  );
});

describe('the example of the README', () => {
  test('given the package as it is built, then it type-checks, runs, and prints what is shown', () => {
    const example = blocks.find(({ language }) => language === 'ts');
    const printed = blocks.find(({ language }) => language === 'text');
    const project = mkdtempSync(join(tmpdir(), 'zs-readme-'));
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    symlinkSync(PROJECT, join(project, 'node_modules/zero-sessions'));
    symlinkSync(join(PROJECT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(project, 'example.ts'), example?.text ?? '');
    const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['example.ts'] }));

    const compiler = spawnSync(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', project]);
    const output = execFileSync(process.execPath, [join(project, 'example.js')], {
      encoding: 'utf8',
      env: { ...process.env, ZERO_SESSIONS_ROOT: join(folder, 'zero/sessions') },
    });
    rmSync(project, { recursive: true });

    expect(compiler.stdout.toString()).toBe('');
    const lines = `${printed?.text}\n`.split('\n').map(patternOf);
    expect(output.split('\n')).toEqual(lines.map((line) => expect.stringMatching(line)));
  });
});

/** Runs commands one after the other in one shell, as somebody does who types them; gives what each prints. */
function runInOneShell(commands: readonly string[]): readonly string[] {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(join(PROJECT, packageJson.bin['zero-sessions']), join(bin, 'zero-sessions'));
  // A NUL ends what a command prints, and the exit code is still there for the next one.
  const script = commands.map((command) => `${command}\nlast=$?; printf '\\0'; (exit $last)\n`).join('');
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LANG: 'C.UTF-8', TZ: 'UTC' },
  });
  return stdout.split('\0').slice(0, -1);
}

/** Tells whether output is what the page shows, or where it is not. Columns may be wider than what stands for them. */
function matches(output: string, { output: lines, line }: Shown): string {
  const actual = output.replaceAll(folder, '<folder>').trimEnd().split('\n');
  const expected = lines.join('\n').trimEnd().split('\n');
  for (const [at, text] of expected.entries()) {
    const found = (actual[at] ?? '').trimEnd();
    if (!patternOf(text).test(found)) return `README.md:${line + at + 1}: ${text}\nbut it prints:  ${found}`;
  }
  const more = actual.slice(expected.length);
  return more.length === 0 ? 'as shown' : `README.md:${line}: it prints more:\n${more.join('\n')}`;
}

function patternOf(line: string): RegExp {
  const parts = line.split(/(<id>|<time>)/);
  const source = parts.map((part) => PLACEHOLDERS[part] ?? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('');
  return new RegExp(`^${source.replace(/ {2,}/g, ' {2,}')}$`);
}
