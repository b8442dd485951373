import { rmSync } from 'node:fs';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import type { Output } from '../output.js';
import { type DemoStep, type DemoView, renderDemo } from '../render/demo.js';
import { type DemoStore, makeDemoStore } from './demo-store.js';

export const demo = defineCommand<DemoView>({
  description:
    'Makes a small store and a workspace in a temporary folder, and shows the commands at work on them. Your own ' +
    'sessions are not touched.',
  examples: ['zero-sessions demo'],
  arguments: [],
  options: [],
  writes: true,
  schemas: [],
  output: { text: renderDemo, json: 'none' },
  run: runDemo,
});

async function runDemo(context: CommandContext): Promise<DemoView> {
  const made = await makeDemoStore(context.now());
  try {
    return { steps: await walk(context, made), demo: made };
  } catch (error) {
    // Nobody is told where it is.
    rmSync(made.folder, { recursive: true, force: true });
    throw error;
  }
}

async function walk(context: CommandContext, made: DemoStore): Promise<readonly DemoStep[]> {
  const steps: DemoStep[] = [];
  for (const { words, argv } of tour(made)) {
    context.signal.throwIfAborted();
    const output = await capture(context, [...argv, '--root', made.root]);
    steps.push({ words, commandLine: ['zero-sessions', ...argv.map(asTyped)].join(' '), output });
  }
  context.signal.throwIfAborted();
  return steps;
}

function asTyped(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `"${word}"`;
}

interface Stop {
  readonly words: string;
  readonly argv: readonly string[];
}

function tour({ sessionId, hasZeroSessions }: DemoStore): readonly Stop[] {
  const zeros = hasZeroSessions
    ? ' Those named zero_golden_… were written by Zero itself, the others by this program.'
    : '';
  return [
    {
      words:
        'Every conversation with the agent is a session. The one with the newest activity comes first, and its id is ' +
        `what other commands take; the beginning of an id will do.${zeros}`,
      argv: ['list'],
    },
    {
      words:
        'Sessions come from one another. A fork goes another way from some event on; a child did a piece of work for ' +
        'its parent. FROM says after which event of the parent it left.',
      argv: ['tree'],
    },
    {
      words:
        'This is what was said and done in one of them. The number on the left is the position of an event: it is ' +
        'what you give to go back to that moment. A checkpoint holds files as they were before a tool changed them.',
      argv: ['show', sessionId],
    },
    {
      words: 'The same as a table, the last four events only.',
      argv: ['show', sessionId, '--events', '--tail', '4'],
    },
    {
      words: 'For scripts every command speaks JSON. --jsonl gives one object a line, for jq and friends.',
      argv: ['show', sessionId, '--type', 'message', '--jsonl'],
    },
    {
      words: 'And -q gives only what a script goes on with: here, the ids of forks.',
      argv: ['list', '--kind', 'fork', '-q'],
    },
    ...goingBack(sessionId),
  ];
}

/** What changes a session is tried on a fork, so that the rest of the store stays as the tour has shown it. */
function goingBack(sessionId: string): readonly Stop[] {
  return [
    {
      words: 'A fork is a session of its own: whatever happens to it, the one that it came from keeps its bytes.',
      argv: ['fork', sessionId, '--id', TRIAL, '--title', 'Try things'],
    },
    { words: 'These are the moments whose files are kept.', argv: ['checkpoint', 'list', TRIAL] },
    {
      words: 'Going back is planned first. This changes nothing and says what would happen, file by file.',
      argv: ['rewind', TRIAL, '--to', '3', '--dry-run'],
    },
    {
      words: 'Now in earnest: the log and the files go back together, or not at all.',
      argv: ['rewind', TRIAL, '--to', '3'],
    },
    {
      words: 'Nothing that was dropped or overwritten is gone. Undo brings it back, and can itself be undone.',
      argv: ['rewind', TRIAL, '--undo'],
    },
    {
      words: 'A long conversation can go on behind a summary of its beginning, which any program may write.',
      argv: ['compact', TRIAL, '--preserve-last', '2', '--summary', 'greet.sh takes a name now.'],
    },
    { words: 'And this is how the conversation would go on.', argv: ['resume', TRIAL] },
  ];
}

const TRIAL = 'demo-trial';

/** Gives what a command line prints where this one prints. */
async function capture(context: CommandContext, argv: readonly string[]): Promise<string> {
  let text = '';
  const kept: Output = {
    write: async (data) => {
      text += typeof data === 'string' ? data : Buffer.from(data).toString();
    },
    closed: false,
    signal: context.out.signal,
  };
  const { in: input, outIsTerminal, errIsTerminal, columns, env, cwd, uid, now } = context;
  const surroundings = { in: input, outIsTerminal, errIsTerminal, columns, env, cwd, uid, now };
  // A signal of its own for each: what a run hangs on it goes with the run.
  const run = new AbortController();
  const end = () => run.abort(context.signal.reason);
  context.signal.addEventListener('abort', end);
  try {
    await context.runAnother(argv, { ...surroundings, signal: run.signal, out: kept, err: kept });
  } finally {
    context.signal.removeEventListener('abort', end);
  }
  return text;
}
