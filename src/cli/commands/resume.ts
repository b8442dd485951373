import { realpathSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { FileNotFoundError, NothingToResumeError, NotResumableError } from '../../errors.js';
import { trimSpace } from '../../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../../model/metadata.js';
import { formatShownContext } from '../../plan/exec-prompt.js';
import { defaultRoot } from '../../store/open-store.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { NotYetError, UsageError } from '../errors.js';
import { findProgram } from '../find-program.js';
import type { ParsedArguments } from '../input/arguments.js';
import { quoteWords, splitWords } from '../input/command-words.js';
import { findSession } from '../input/find-session.js';
import { isFolder } from '../input/folder.js';
import { readInputText, STDIN } from '../input/read-input.js';
import { type ResumeView, renderResume, resumeNotes } from '../render/resume.js';
import { sessionJson } from '../render/session-json.js';
import { EXIT_DONE } from '../report/exit-codes.js';
import { warnIfInUse } from '../report/rewind-outcome.js';
import { listedSession } from '../report/written-session.js';
import { runInPlace } from '../run-program.js';
import { SESSION_SCHEMA } from '../schema/schema-parts.js';

export const resume = defineCommand<ResumeView>({
  description:
    'Prints the line to go on with, to be pasted into a shell with your request in its place, and what is resumed. With ' +
    '--prompt: prints your request with what a model should know of the session, for the stdin of any model. With ' +
    '--exec: changes to the folder of the session and starts zero with the request of --prompt, or the command given, ' +
    'whose words are split without a shell; in it {} stands for the id and {prompt} for the request. Without a session, ' +
    'and not at a terminal, it is the latest.',
  examples: [
    'zero-sessions resume latest',
    'zero-sessions resume latest --prompt "And now the tests" | my-model',
    'zero-sessions resume latest --fork --exec --prompt "And now the tests"',
  ],
  arguments: [{ name: '[session]', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--here', description: 'the latest of the present folder, its git work tree, and below' },
    { flags: '--prompt <text>', description: 'what to ask next; - for stdin' },
    { flags: '--fork', description: 'go on in a copy' },
    {
      flags: '--exec [command]',
      description: 'start zero exec --resume with --prompt, or this command, in the folder of the session',
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
        command: command.map((word) => redaction.text(word)),
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
  const isRun = args.flag('exec');
  if (isRun && globals.format === 'json') {
    throw new UsageError('--exec does not go with --json', 'What is started has stdin and stdout to itself.');
  }
  const words = args.text('exec');
  const template = words === undefined ? RESUME_IN_ZERO : splitWords(words);
  const id = await sessionToResume(context, args.operand('session'), args.flag('here'));
  const metadata = await context.store.require(id);
  if (!args.flag('fork') && !isResumableKind(metadata.sessionKind)) {
    throw new NotResumableError(id, metadata.sessionKind as string);
  }
  const program = isRun ? programFor(context, metadata, template) : undefined;
  const request = await requestOf(context, args, template);
  // Before the fork: a log that cannot be read leaves no fork behind.
  const known = await context.store.execContext(id);
  const mode = args.flag('fork') ? 'fork' : 'resume';
  const session = mode === 'fork' ? await context.store.fork(id) : metadata;
  const reach = reachOf(context);
  if (isRun || request === undefined) await warnOfHindrances(context, session, reach, template);
  const view = {
    listed: await listedSession(context, session),
    mode,
    contextEvents: known.count,
    command: commandFor(session.sessionId, template, request),
    dataHome: reach.dataHome,
    prompt: request === undefined || isRun ? undefined : formatShownContext(request, mode, session, known.shown),
    quiet: globals.quiet,
  } as const;
  if (program === undefined) return { ...view, exitCode: undefined };
  await context.note(`In ${program.cwd}: ${quoteWords(view.command)}`);
  const [, ...rest] = view.command;
  const env = isZero(template) && reach.dataHome !== undefined ? { XDG_DATA_HOME: reach.dataHome } : {};
  const exitCode = await runInPlace(program.path, rest, { cwd: program.cwd, env: { ...context.env, ...env } });
  return { ...view, exitCode };
}

const ZERO = 'zero';
const ID_PLACE = '{}';
const REQUEST_PLACE = '{prompt}';
/** What goes on with a session; Zero refuses to without a request. */
const RESUME_IN_ZERO: readonly string[] = [ZERO, 'exec', '--resume', ID_PLACE, '--prompt', REQUEST_PLACE];

async function sessionToResume(context: CommandContext, name: string | undefined, isHere: boolean): Promise<string> {
  if (isHere && name !== undefined) throw new UsageError('--here does not go with the name of a session');
  if (isHere) return findSession(context, 'here');
  if (name !== undefined) return findSession(context, name);
  if (context.globals.input) {
    throw new NotYetError('The picker of sessions', 'Name one, such as: zero-sessions resume latest');
  }
  const latest = await context.store.latestResumable();
  if (latest === null) throw new NothingToResumeError();
  return latest.sessionId;
}

/** Gives the request, asked for where a program that is to be started needs one. */
async function requestOf(
  context: CommandContext,
  args: ParsedArguments,
  template: readonly string[],
): Promise<string | undefined> {
  const given = args.text('prompt');
  const isWanted = args.flag('exec') && template.some((word) => word.includes(REQUEST_PLACE));
  if (args.flag('exec') && !isWanted && given !== undefined) {
    throw new UsageError(
      `The command has no place for the request`,
      `Write ${REQUEST_PLACE} where --prompt is to stand.`,
    );
  }
  if (given === undefined && !isWanted) return undefined;
  const text = given === undefined ? await askForRequest(context) : await givenRequest(context, given);
  if (trimSpace(text) === '') throw new UsageError('--prompt is blank', 'Give what to ask next.');
  if (isWanted && text.includes('\0')) throw new UsageError('--prompt has a NUL in it, which no argument can have');
  return text;
}

async function givenRequest(context: CommandContext, given: string): Promise<string> {
  return given === STDIN ? (await readInputText(context, 'the prompt')).replace(/\r?\n$/, '') : given;
}

async function askForRequest(context: CommandContext): Promise<string> {
  if (!context.globals.input) {
    throw new UsageError('What is started needs a request', 'Give what to ask next with --prompt.');
  }
  return context.in.ask('Your request: ', context.signal);
}

function commandFor(id: string, template: readonly string[], request: string | undefined): readonly string[] {
  const isOpen = request === undefined && template === RESUME_IN_ZERO;
  const words = isOpen ? template.slice(0, template.indexOf('--prompt')) : template;
  return words.map((word) => (word === ID_PLACE ? id : word.replaceAll(REQUEST_PLACE, () => request ?? '')));
}

function isZero(template: readonly string[]): boolean {
  return template[0] === ZERO;
}

/** How Zero gets at this store. */
interface Reach {
  /** What XDG_DATA_HOME has to be; undefined where Zero finds the store by itself, or cannot. */
  readonly dataHome: string | undefined;
  readonly isReachable: boolean;
}

const IN_DATA_HOME = '/zero/sessions';

function reachOf({ store, env, globals }: CommandContext): Reach {
  const zeros = defaultRoot(env);
  if (zeros !== '' && realOr(zeros) === realOr(store.root)) return { dataHome: undefined, isReachable: true };
  const root = [globals.root ?? '', store.root].find((each) => each.endsWith(IN_DATA_HOME));
  if (root === undefined) return { dataHome: undefined, isReachable: false };
  return { dataHome: root.slice(0, -IN_DATA_HOME.length) || '/', isReachable: true };
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Says what will keep the session from going on well. */
async function warnOfHindrances(
  context: CommandContext,
  { sessionId, cwd = '' }: SessionMetadata,
  { isReachable }: Reach,
  template: readonly string[],
): Promise<void> {
  if (context.globals.quiet) return;
  if (isZero(template) && !isReachable) {
    await context.warn(
      `Zero cannot reach this store: ${context.store.root} is no folder ${IN_DATA_HOME.slice(1)} that XDG_DATA_HOME could name.`,
    );
  }
  if (cwd !== '' && !isWorkingFolder(cwd)) await context.warn(`The folder of session ${sessionId} is gone: ${cwd}`);
  await warnIfInUse(context, sessionId);
}

function isWorkingFolder(path: string): boolean {
  return isAbsolute(path) && isFolder(path);
}

/** Finds what is to be started and where, before anything is done. */
function programFor(
  context: CommandContext,
  { sessionId, cwd = '' }: SessionMetadata,
  template: readonly string[],
): { readonly path: string; readonly cwd: string } {
  const folder = cwd === '' ? context.cwd : cwd;
  if (!isWorkingFolder(folder)) {
    throw new FileNotFoundError(folder, `The folder of session ${sessionId} is not there: ${folder}`);
  }
  const untrusted = [folder, context.cwd].filter((each) => isWorkspace(each, context.homes));
  const path = findProgram(template[0] ?? ZERO, { path: context.env.PATH ?? '', untrusted });
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
