import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// `npm run lint` holds the sources to these rules. Here the rules themselves are tried, on lines planted for them.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LAYERS = 'plugin: Not for this file to import';
const EFFECTS = 'plugin: Handed in, not reached for';
const GLOBALS = 'lint/style/noRestrictedGlobals';

/** What each room of the store may not say: an import from any room above it, and from the door. */
function upwards(rooms: readonly string[]): readonly (readonly [file: string, line: string, rule: string])[] {
  return rooms.flatMap((room, at) => {
    const above = rooms.slice(at + 1).map((other) => `import { it } from '../${other}/it.js';`);
    const lines = [...above, "import { SessionStore } from '../session-store.js';"];
    return lines.map((line) => [`src/store/${room}/planted.ts`, line, LAYERS] as const);
  });
}

const REFUSED: readonly (readonly [file: string, line: string, rule: string])[] = [
  ['src/errors.ts', "import type { SessionId } from './model/ids.js';", LAYERS],
  ['src/index.ts', "export { table } from './cli/render/table.js';", LAYERS],
  ['src/index.ts', "export { replaceFile } from './fs/atomic-file.js';", LAYERS],

  ['src/model/event.ts', "import { planRewind } from '../plan/rewind/rewind.js';", LAYERS],
  ['src/model/event.ts', "import type { FileSystem } from '../fs/file-system.js';", LAYERS],
  ['src/model/event.ts', "import { openStore } from './../store/open-store.js';", LAYERS],
  ['src/model/event.ts', "import { readFile } from 'node:fs/promises';", LAYERS],
  ['src/model/event.ts', "import { readFileSync } from 'fs';", LAYERS],
  ['src/model/event.ts', "import { ulid } from 'ulid';", LAYERS],
  ['src/model/event.ts', "export { run } from '../cli/main.js';", LAYERS],
  ['src/model/event.ts', "export const late = import('../cli/main.js');", LAYERS],
  ['src/model/event.ts', "export type Late = import('../store/base/layout.js').Layout;", LAYERS],
  ['src/model/event.ts', "export const bytes = Buffer.from('');", GLOBALS],
  ['src/model/event.ts', 'export const home = process.env;', GLOBALS],
  ['src/model/event.ts', 'export const out = globalThis.process;', GLOBALS],
  ['src/model/event.ts', "console.log('here');", GLOBALS],
  ['src/model/event.ts', 'export const now = Date.now();', EFFECTS],
  ['src/model/event.ts', 'export const clock = Date.now;', EFFECTS],
  ['src/model/event.ts', 'export const today = new Date();', EFFECTS],
  ['src/model/event.ts', 'export const text = Date();', EFFECTS],
  ['src/model/event.ts', 'export const luck = Math.random();', EFFECTS],

  ['src/plan/rewind/rewind.ts', "import { layout } from '../../store/base/layout.js';", LAYERS],
  ['src/plan/rewind/rewind.ts', "import { readLines } from '../../fs/jsonl.js';", LAYERS],
  ['src/plan/rewind/rewind.ts', "import { join } from 'node:path';", LAYERS],
  ['src/plan/rewind/rewind.ts', 'export const now = Date.now();', EFFECTS],
  ['src/plan/rewind/rewind.ts', 'export const bytes = new Uint8Array(Buffer.alloc(1));', GLOBALS],

  ['src/redaction/redaction.ts', "import { planRewind } from '../plan/rewind/rewind.js';", LAYERS],
  ['src/redaction/redaction.ts', "import { readLines } from '../fs/jsonl.js';", LAYERS],
  ['src/redaction/redaction.ts', "import { join } from 'node:path';", LAYERS],
  ['src/redaction/redaction.ts', 'export const now = Date.now();', EFFECTS],
  ['src/redaction/redaction.ts', 'export const bytes = Buffer.alloc(1);', GLOBALS],

  ['src/fs/jsonl.ts', "import type { StoredEvent } from '../model/event.js';", LAYERS],
  ['src/fs/jsonl.ts', "import { planRewind } from '../plan/rewind/rewind.js';", LAYERS],
  ['src/fs/jsonl.ts', "import { layout } from '../store/base/layout.js';", LAYERS],
  ['src/fs/jsonl.ts', "import { lock } from 'proper-lockfile';", LAYERS],
  ['src/fs/jsonl.ts', "import write from 'write-file-atomic';", LAYERS],
  ['src/fs/jsonl.ts', "import { pid } from 'node:process';", EFFECTS],
  ['src/fs/jsonl.ts', 'export const mask = process.umask();', GLOBALS],
  ['src/fs/jsonl.ts', 'export const today = new Date();', EFFECTS],

  ['src/store/base/layout.ts', "import { run } from '../../cli/main.js';", LAYERS],
  ['src/store/base/layout.ts', "import { openStore } from '../../index.js';", LAYERS],
  ['src/store/base/layout.ts', "import { Command } from 'commander';", LAYERS],
  ['src/store/base/layout.ts', "import Table from 'cli-table3';", LAYERS],
  ['src/store/base/layout.ts', "import colors from 'picocolors';", LAYERS],
  ['src/store/base/layout.ts', "import { ulid } from 'ulid';", LAYERS],
  ['src/store/base/layout.ts', "import { lock } from 'proper-lockfile';", LAYERS],
  ['src/store/base/layout.ts', 'export const home = process.env;', GLOBALS],
  ['src/store/base/layout.ts', 'export const luck = Math.random();', EFFECTS],
  ['src/store/base/layout.ts', 'export const start = performance.now();', GLOBALS],

  ['src/fs/jsonl.ts', "import { deadlineAfter } from '../locks/deadline.js';", LAYERS],
  ['src/locks/deadline.ts', "import type { StoreDeps } from '../store/base/deps.js';", LAYERS],
  ['src/locks/deadline.ts', "import { lock } from 'proper-lockfile';", LAYERS],
  ['src/locks/deadline.ts', 'export const now = Date.now();', EFFECTS],
  ['src/locks/deadline.ts', 'export const mask = process.umask();', GLOBALS],
  ['src/plan/fork/fork.ts', "import { planGoal } from '../goal.js';", LAYERS],
  ['src/plan/goal.ts', "import { planRewind } from './rewind/rewind.js';", LAYERS],
  ['src/plan/goal.ts', "import { planCompaction } from './compaction/compaction.js';", LAYERS],
  ['src/plan/compaction/replay.ts', "import { planRewind } from '../rewind/rewind.js';", LAYERS],
  ['src/plan/rewind/undo.ts', "import { replay } from '../compaction/replay.js';", LAYERS],
  ...upwards(['base', 'parts', 'workspace', 'holding', 'recovery', 'queries', 'rewind', 'operations']),

  ['src/cli/context.ts', "import { readLines } from '../fs/jsonl.js';", LAYERS],
  ['src/cli/context.ts', "import { openStore } from '../index.js';", LAYERS],
  ['src/cli/context.ts', "console.error('here');", 'lint/suspicious/noConsole'],
  ['src/cli/context.ts', 'export const home = process.env;', GLOBALS],
  ['src/cli/commands/list.ts', "import { readLines } from '../../fs/jsonl.js';", LAYERS],
  ['src/cli/commands/list.ts', "import { Command } from 'commander';", LAYERS],
  ['src/cli/commands/list.ts', "import Table from 'cli-table3';", LAYERS],
  ['src/cli/commands/list.ts', "import colors from 'picocolors';", LAYERS],
  ['src/cli/commands/list.ts', "export * from '../../store/base/layout.js';", 'lint/performance/noReExportAll'],
  ['src/cli/main.ts', "import { Command } from 'commander';", LAYERS],

  ['test/plan/rewind/rewind.test.ts', "import { readFileSync } from 'node:fs';", 'lint/style/noRestrictedImports'],
];

const ALLOWED: readonly (readonly [file: string, line: string])[] = [
  ['src/index.ts', "export { openStore } from './store/open-store.js';"],
  ['src/model/event.ts', "import { parseSessionId } from './ids.js';"],
  ['src/model/event.ts', "import { InvalidIdError } from '../errors.js';"],
  ['src/model/event.ts', 'export const then = new Date(0);'],
  ['src/plan/rewind/rewind.ts', "import type { StoredEvent } from '../../model/event.js';"],
  ['src/plan/rewind/rewind.ts', "import { statesNearestTarget } from './checkpoint-states.js';"],
  ['src/plan/event-preview.ts', "import { redactText } from '../redaction/redaction.js';"],
  ['src/redaction/redaction.ts', "import { isRecord } from '../model/json.js';"],
  ['src/fs/jsonl.ts', "import { open } from 'node:fs/promises';"],
  ['src/locks/exclusive-lock.ts', "import { lock } from 'proper-lockfile';"],
  ['src/fs/atomic-file.ts', "import write from 'write-file-atomic';"],
  ['src/store/base/layout.ts', "import { planRewind } from '../../plan/rewind/rewind.js';"],
  ['src/store/base/layout.ts', "import { readLines } from '../../fs/jsonl.js';"],
  ['src/store/base/new-id.ts', "import { ulid } from 'ulid';"],
  ['src/locks/deadline.ts', "import type { FileSystem } from '../fs/file-system.js';"],
  ['src/plan/goal.ts', "import { copiedEvents } from './fork/copied-events.js';"],
  ['src/plan/rewind/undo.ts', "import { pairCalls } from '../call-pairing.js';"],
  ['src/plan/compaction/replay.ts', "import { pairCalls } from '../call-pairing.js';"],
  ['src/store/operations/create-session.ts', "import { runTransaction } from '../rewind/rewind-transaction.js';"],
  ['src/store/parts/event-log.ts', "import type { StoreDeps } from '../base/deps.js';"],
  ['src/store/session-store.ts', "import { createSession } from './operations/create-session.js';"],
  ['src/cli/program.ts', "import { Command } from 'commander';"],
  ['src/cli/program.ts', "export const late = import('./commands/list.js');"],
  ['src/cli/render/table.ts', "import Table from 'cli-table3';"],
  ['src/cli/render/style.ts', "import colors from 'picocolors';"],
  ['src/cli/commands/list.ts', "import type { CliContext } from '../context.js';"],
  ['src/cli/commands/list.ts', "import { openStore } from '../../store/open-store.js';"],
  ['src/cli/main.ts', 'console.error(process.argv, Date.now());'],
];

describe('the linter, given a planted line', () => {
  let findings: ReadonlyMap<string, readonly string[]>;
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zero-sessions-layers-'));
    findings = lint(folder, [...REFUSED, ...ALLOWED]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(REFUSED)('%s may not say: %s', (file, line, rule) => {
    expect(findings.get(`${file}: ${line}`) ?? []).toContainEqual(expect.stringContaining(rule));
  });

  test.each(ALLOWED)('%s may say: %s', (file, line) => {
    const refusals = findings.get(`${file}: ${line}`) ?? [];

    expect(refusals.filter((rule) => /plugin|noRestricted|noConsole/.test(rule))).toEqual([]);
  });
});

describe('the packages at run time', () => {
  test('given one in package.json, then the layers name its home', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const table = readFileSync(join(ROOT, '.biome/layers.grit'), 'utf8');
    const housed = [...table.matchAll(/\$source <: r"\.([a-z0-9-]+)\."/g)].map((match) => match[1]);

    expect(housed.sort()).toEqual(Object.keys(dependencies).sort());
  });
});

describe('the imports of src', () => {
  test('given types as well, then none leads in a circle', () => {
    const imports = importsOf(join(ROOT, 'src'));

    expect(circleIn(imports)).toEqual([]);
    expect(circleIn(new Map([...imports, ['a', ['b']], ['b', ['c']], ['c', ['a']]]))).toEqual(['a', 'b', 'c', 'a']);
  });
});

describe('the exports of src', () => {
  test('given a name that a file exports, then another file of src asks for it, or the surface has it', () => {
    const asked = new Set<string>();
    const exported: (readonly [file: string, name: string])[] = [];
    for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(join(ROOT, 'src', file), 'utf8');
      const blocks = text.matchAll(/(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'\./g);
      for (const [, names = ''] of blocks) {
        for (const name of names.split(','))
          asked.add(
            name
              .replace(/\btype\b/, '')
              .replace(/ as .*/, '')
              .trim(),
          );
      }
      // What is loaded when it is wanted is named behind the import.
      for (const [, name = ''] of text.matchAll(/await import\([^)]*\)\)\.(\w+)/g)) asked.add(name);
      for (const line of text.split('\n').filter((each) => /= await (?:import|Promise\.all)/.test(each))) {
        for (const [, name = ''] of line.matchAll(/(\w+)(?=[, ]*\})/g)) asked.add(name);
      }
      const found = text.matchAll(
        /^export (?:async )?(?:abstract )?(?:class|function\*?|interface|type|const) (\w+)/gm,
      );
      for (const [, name = ''] of found) exported.push([file, name]);
    }

    expect(exported.filter(([, name]) => !asked.has(name) && !TESTED.has(name)).map((each) => each.join(': '))).toEqual(
      [],
    );
  });
});

/** Exported for the tests of their own file only: each is what a claim is about. */
const TESTED: ReadonlySet<string> = new Set([
  'OutputTarget',
  'ExclusiveLock',
  'FileLocker',
  'identifyProcess',
  'TurnQueue',
  'spliceEventLine',
  'splitLines',
  'PositionSource',
  'KnownSessions',
  'NamingPlace',
  'quoteForPowerShell',
  'draw',
  'drawWithCliTable',
  'layOut',
  'ERROR_SCHEMA',
  'SUMMARY_LINE',
  'ENTRIES_LINE',
  'UndoSources',
]);

describe('the names of files', () => {
  test('given src and test, then none is called utils, helpers or common', () => {
    const files = ['src', 'test'].flatMap((top) => readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }));
    const nameless = files.filter(
      (file) => !file.startsWith('samples') && /(?:^|[/-])(?:utils?|helpers?|common)\b/.test(file),
    );

    expect(nameless).toEqual([]);
  });
});

/** Runs the project's own rules over the lines, laid out as files in a folder; findings by file and line. */
function lint(folder: string, lines: readonly (readonly [file: string, line: string, ...unknown[]])[]) {
  for (const part of ['biome.json', 'package.json', '.biome']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  const files = new Map<string, string[]>();
  for (const [file, line] of lines) files.set(file, [...(files.get(file) ?? []), line]);
  for (const [file, planted] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), planted.join('\n'));
  }
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const args = ['lint', '--reporter=rdjson', '--max-diagnostics=none', '--vcs-enabled=false', '.'];
  const { stdout, stderr } = spawnSync(process.execPath, [biome, ...args], { cwd: folder, encoding: 'utf8' });
  if (stdout === '') throw new Error(`The linter said nothing: ${stderr}`);

  const findings = new Map<string, string[]>();
  for (const { code, location, message } of JSON.parse(stdout).diagnostics) {
    const line = files.get(location.path)?.[location.range.start.line - 1];
    const key = `${location.path}: ${line}`;
    findings.set(key, [...(findings.get(key) ?? []), `${code?.value ?? 'plugin'}: ${message}`]);
  }
  return findings;
}

/** Gives what each file below a folder imports of the others, by path. */
function importsOf(folder: string): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const read = (file: string): readonly string[] => {
    const named = readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)[\s(]+'(\.[^']+)\.js'/g);
    return [...named].map(([, path]) => join(dirname(file), `${path}.ts`));
  };
  return new Map(files.map((file) => [file, read(file)]));
}

/** Gives a circle, the first file again at its end, or nothing. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const follow = (path: readonly string[], file: string): readonly string[] => {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return [];
    for (const next of imports.get(file) ?? []) {
      const found = follow([...path, file], next);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  for (const file of imports.keys()) {
    const found = follow([], file);
    if (found.length > 0) return found;
  }
  return [];
}
