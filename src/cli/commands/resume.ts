import { dirname } from 'node:path';
import { FileNotFoundError, NothingToResumeError, NotResumableError, NotYetError, UsageError } from '../../errors.js';
import { parseSessionId, trimSpace } from '../../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../../model/metadata.js';
import { type ExecMode, formatShownContext } from '../../plan/exec-prompt.js';
import { requireMetadata } from '../../store/metadata-file.js';
import { type ExecContext, readExecContext } from '../../store/read-replay.js';
import type { ParsedArguments } from '../arguments.js';
import { defineCommand } from '../command.js';
import { quoteWords, splitWords } from '../command-words.js';
import type { CommandContext } from '../context.js';
import { EXIT_DONE } from '../exit-codes.js';
import { findProgram } from '../find-program.js';
import { findSession } from '../find-session.js';
import type { ListedSession } from '../listed-session.js';
import { readInputText, STDIN } from '../read-input.js';
import { renderResume, resumeNotes } from '../render/resume.js';
import { sessionJson } from '../render/session-json.js';
import { runInPlace } from '../run-program.js';
import { SESSION_SCHEMA } from '../schema-parts.js';
import { listedSession } from '../written-session.js';

/** What is resumed, and how to go on. */
export interface ResumeView {
  readonly listed: ListedSession;
  readonly mode: ExecMode;
  /** How many events a model sees of it. */
  readonly contextEvents: number;
  /** The command to go on with, as an argument list. */
  readonly command: readonly string[];
  /** The prompt with its context, where a request was given. */
  readonly prompt: string | undefined;
  readonly quiet: boolean;
  /** How the program ended that was started; undefined when none was. */
  readonly exitCode: number | undefined;
}

export const resume = defineCommand<ResumeView>({
  description:
    'Prints what is resumed and the command to go on with. With --prompt: prints your request with what a model should ' +
    'know of the session, for the stdin of any model. With --exec: changes to the folder of the session and starts ' +
    'zero, or the command given, whose words are split without a shell and in which {} stands for the id. Without a ' +
    'session, and not at a terminal, it is the latest.',
  examples: [
    'zero-sessions resume latest',
    'zero-sessions resume latest --prompt "And now the tests" | my-model',
    'zero-sessions resume latest --fork --exec',
  ],
  arguments: [{ name: '[session]', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--prompt <text>', description: 'what to ask next; - for stdin' },
    { flags: '--fork', description: 'go on in a copy' },
    {
      flags: '--exec [command]',
      description: 'start zero exec --resume, or this command, in the folder of the session',
    },
  ],
  writes: true,
  schemas: [
    {
      session: SESSION_SCHEMA,
      contextEvents: { type: 'integer', minimum: 0 },
      command: { type: 'array', items: { type: 'string' } },
      prompt: { type: ['string', 'null'] },
    },
  ],
  output: {
    text: renderResume,
    json: ({ listed, contextEvents, command, prompt }, { redaction }) => ({
      members: {
        session: sessionJson(listed, redaction),
        contextEvents,
        command: [...command],
        prompt: prompt === undefined ? null : redaction.text(prompt),
      },
    }),
    notes: resumeNotes,
    exitCode: ({ exitCode }) => exitCode ?? EXIT_DONE,
  },
  run: runResume,
});

async function runResume(context: CommandContext, args: ParsedArguments): Promise<ResumeView> {
  const { globals } = context;
  if (args.flag('exec') && (globals.format === 'json' || args.flag('prompt'))) {
    const other = args.flag('prompt') ? '--prompt' : '--json';
    throw new UsageError(`--exec does not go with ${other}`, 'What is started has stdin and stdout to itself.');
  }
  const id = await sessionToResume(context, args.operand('session'));
  const { metadata } = requireMetadata(context.deps, parseSessionId(id));
  if (!args.flag('fork') && !isResumableKind(metadata.sessionKind)) {
    throw new NotResumableError(id, metadata.sessionKind as string);
  }
  const request = await requestOf(context, args);
  const words = args.text('exec');
  const template = words === undefined ? undefined : splitWords(words);
  const program = args.flag('exec') ? programFor(context, metadata, template) : undefined;
  // Before the fork: a log that cannot be read leaves no fork behind.
  const known = readExecContext(context.deps, id);
  const mode = args.flag('fork') ? 'fork' : 'resume';
  const session = mode === 'fork' ? await context.store.fork(id) : metadata;
  const view = {
    listed: await listedSession(context, session),
    mode,
    contextEvents: known.count,
    command: commandFor(session.sessionId, template),
    prompt: request === undefined ? undefined : promptFor(request, mode, session, known),
    quiet: globals.quiet,
  } as const;
  if (program === undefined) return { ...view, exitCode: undefined };
  await context.note(`In ${program.cwd}: ${quoteWords(view.command)}`);
  const [, ...rest] = view.command;
  const exitCode = await runInPlace(program.path, rest, { cwd: program.cwd, env: context.env });
  return { ...view, exitCode };
}

async function sessionToResume(context: CommandContext, name: string | undefined): Promise<string> {
  if (name !== undefined) return findSession(context, name);
  if (context.globals.input) {
    throw new NotYetError('The picker of sessions', 'Name one, such as: zero-sessions resume latest');
  }
  const latest = await context.store.latestResumable();
  if (latest === null) throw new NothingToResumeError();
  return latest.sessionId;
}

async function requestOf(context: CommandContext, args: ParsedArguments): Promise<string | undefined> {
  const given = args.text('prompt');
  if (given === undefined) return undefined;
  const text = given === STDIN ? (await readInputText(context, 'the prompt')).replace(/\r?\n$/, '') : given;
  if (trimSpace(text) === '') throw new UsageError('--prompt is blank', 'Give what to ask next.');
  return text;
}

function promptFor(request: string, mode: ExecMode, session: SessionMetadata, { shown }: ExecContext): string {
  return formatShownContext(request, mode, session, shown);
}

const ZERO = 'zero';

function commandFor(id: string, template: readonly string[] | undefined): readonly string[] {
  if (template === undefined) return [ZERO, 'exec', '--resume', id];
  return template.map((word) => (word === '{}' ? id : word));
}

/** Finds what is to be started and where, before anything is done. */
function programFor(
  context: CommandContext,
  { sessionId, cwd = '' }: SessionMetadata,
  template: readonly string[] | undefined,
): { readonly path: string; readonly cwd: string } {
  const folder = cwd === '' ? context.cwd : cwd;
  if (context.deps.fs.stat(folder)?.kind !== 'directory') {
    throw new FileNotFoundError(folder, `The folder of session ${sessionId} is not there: ${folder}`);
  }
  const untrusted = [folder, context.cwd].filter((each) => isWorkspace(each, context.deps.homes));
  const path = findProgram(template?.[0] ?? ZERO, { path: context.env.PATH ?? '', untrusted });
  return { path, cwd: folder };
}

// In a home folder, or above it, are the user's own programs.
function isWorkspace(folder: string, homes: readonly string[]): boolean {
  const holdsHome = homes.some((home) => {
    for (let at = home; ; at = dirname(at)) {
      if (at === folder) return true;
      if (dirname(at) === at) return false;
    }
  });
  return folder !== '/' && !holdsHome;
}
