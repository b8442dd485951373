import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CliRun, runCommandLine } from '../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

/** What a terminal obeys, or what hides the order of text: by name, so that a failure can be read. */
const HOSTILE: Readonly<Record<string, string>> = {
  ESC: '\u001b[2J',
  'OSC 52': '\u001b]52;c;aGk=\u0007',
  'OSC 8': '\u001b]8;;http://x.example\u001b\\',
  'C1 CSI': '\u009b2J',
  'C1 OSC': '\u009d0;x\u009c',
  CR: '\r',
  BS: '\b',
  BEL: '\u0007',
  NUL: '\0',
  DEL: '\u007f',
  override: '\u202e',
  isolate: '\u2066',
  'zero width': '\u200b',
};
const ALL = Object.values(HOSTILE).join('x');
// In a file name no NUL can stand.
const NAME = `f${ALL.replaceAll('\0', '')}`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
const RAW = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

/** A session with hostile text wherever text can stand. */
async function hostileSession(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ [NAME]: `${ALL}\nold\n` });
  await temp.store.appendEvents('s', [
    { type: 'message', payload: { role: 'user', content: ALL } },
    { type: 'message', payload: { role: ALL, content: `two\nlines ${ALL}` } },
    { type: 'tool_call', payload: { id: ALL, name: ALL, arguments: JSON.stringify({ path: NAME, content: ALL }) } },
  ]);
  await temp.tool({ [NAME]: `${ALL}\nnew\n`, [`new${NAME}`]: ALL }, { name: ALL });
  await temp.store.appendEvents('s', [
    { type: 'tool_result', payload: { toolCallId: ALL, name: ALL, status: ALL, output: ALL, changedFiles: [NAME] } },
    { type: 'error', payload: { message: ALL } },
    { type: 'permission', payload: { action: ALL, name: ALL, permission: ALL, risk: { level: ALL } } },
    { type: 'specialist_start', payload: { specialistName: ALL, childSessionId: ALL, mode: ALL } },
    { type: 'provider_usage', payload: { promptTokens: 1, model: ALL } },
    { type: ALL, payload: { [ALL]: ALL } },
  ]);
  await temp.store.recordSpec('s', { specId: ALL, specStatus: 'draft', specFilePath: ALL, specUserComment: ALL });
  await temp.store.createGoal('s', ALL);
  await temp.store.createChild('s', { sessionId: 'c', agentName: ALL, taskId: ALL, title: ALL, tag: ALL, prompt: ALL });
  await temp.store.updateTitle('s', `title ${ALL}`);
  await temp.store.updateModel('s', ALL);
  temp.clock.pass(60_000);
  return temp;
}

const COMMANDS: readonly (readonly string[])[] = [
  ['list', '--all'],
  ['list', '--all', '-q'],
  ['info'],
  ['path', 's'],
  ['show', 's'],
  ['show', 's', '--full'],
  ['show', 's', '--events'],
  ['show', 's', '--no-redact'],
  ['show', 's', '-q'],
  ['show', 's', '--json'],
  ['show', 's', '--jsonl'],
  ['list', '--all', '--json'],
  ['rewind', 's', '--to', '3', '--dry-run', '--json'],
  ['show', `no${ALL}`, '--json'],
  ['tree', 's'],
  ['children', 's'],
  ['lineage', 'c'],
  ['checkpoint', 'list', 's'],
  ['checkpoint', 'diff', 's', '3'],
  ['checkpoint', 'restore', 's', '3', '--dry-run'],
  ['rewind', 's', '--to', '3', '--dry-run'],
  ['rewind', 's', '--to', '3'],
  ['rewind', 's', '--history'],
  ['spec', 'show', 's'],
  ['fork', 's'],
  ['resume', 's'],
  ['compact', 's', '--summary', ALL],
  ['rename', 's', ALL],
  // What is said of what was asked for wrongly.
  ['show', ALL],
  ['show', 's', '--from', ALL],
  ['show', `title:${ALL}`],
  ['list', '--since', ALL],
  ['list', '--cwd', `/${ALL}`],
  ['rewind', 's', '--to', ALL],
  ['rewind', 's', '--to', '3', '--workspace', `/${NAME}`],
  ['checkpoint', 'show', 's', '3', `no${NAME}`],
  ['create', '--id', ALL],
  ['append', 's'],
  ['resume', 's', '--exec', NAME],
  [ALL],
  ['list', `--${ALL}`],
];

/** What is for a model to read; on a terminal it is for a person. In a pipe it is the text that was asked for. */
const PROMPTS: readonly (readonly string[])[] = [
  ['resume', 's', '--prompt', ALL],
  ['compact', 's', '--preserve-last', '2'],
];

/** What there is in a text that must not be there raw; our own colours are none of it. */
function rawIn(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of the program's own colours
  const found = RAW.exec(text.replaceAll(/\x1b\[[0-9;]{1,5}m/g, ''));
  return found === null ? undefined : JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 20));
}

async function run(temp: TempWorkspace, argv: readonly string[], columns?: number): Promise<CliRun> {
  return runCommandLine(argv, {
    root: temp.root,
    cwd: temp.workspace,
    now: temp.clock.now,
    stdin: `{"type":"${ALL.replaceAll('\\', '')}"}\n`,
    ...(columns === undefined ? {} : { columns }),
  });
}

describe.each([
  ['in a pipe', undefined, COMMANDS],
  ['on a terminal', 100, [...COMMANDS, ...PROMPTS]],
])('hostile text %s', (_, columns, commands) => {
  test.each(
    commands.map((argv) => [argv.join(' ').replaceAll(ALL, '<hostile>').replaceAll(NAME, '<name>'), argv] as const),
  )('49. %s: nothing of it is on stdout or stderr as it stands', async (_name, argv) => {
    const temp = await hostileSession();

    const { out, err } = await run(temp, argv, columns);

    // A payload goes out byte for byte in JSON, on a line of its own (CLI.md).
    const ours = out.replaceAll(/"payload":.*$/gm, '');
    expect([rawIn(ours), rawIn(err)]).toEqual([undefined, undefined]);
    expect(out + err).not.toBe('');
  });

  test('49. a log and metadata that are damaged: what is said of them neither', async () => {
    const temp = await hostileSession();
    writeFileSync(temp.path('events.jsonl'), `{"id":"${ALL}\n${temp.log()}`);
    writeFileSync(temp.path('metadata.json'), `{"sessionId":"${JSON.stringify(ALL).slice(1, -1)}"}`);

    for (const argv of [
      ['show', 's'],
      ['list', '--all'],
      ['append', 's'],
      ['rewind', 's', '--to', '3'],
      ['fork', 's'],
    ]) {
      const { out, err } = await run(temp, argv, columns);
      expect([argv, rawIn(out), rawIn(err)]).toEqual([argv, undefined, undefined]);
    }
  });
});
