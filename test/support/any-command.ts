import { readdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { type FileKind, nodeFileSystem } from '../../src/fs/file-system.js';
import type { ErrorCode, ZeroSessionsError } from '../../src/index.js';
import type { RewindResult } from '../../src/store/rewind/apply-rewind.js';
import { SessionStore } from '../../src/store/session-store.js';
import { aMessage } from './event-builder.js';
import type { Content, TempWorkspace } from './temp-workspace.js';
import { appendLine } from './unfinished-rewind.js';

/** A command that changes a session, with choices that hold whatever the session is like by then. */
export type Command =
  | { readonly do: 'append' | 'batch' | 'unless' | 'compact' | 'undoCompaction' | 'goal' | 'child' | 'fork' }
  | { readonly do: 'title' | 'model' | 'spec' | 'capture'; readonly value: string }
  | { readonly do: 'edit'; readonly name: string; readonly content: Content }
  | { readonly do: 'rewind'; readonly at: number; readonly options: RewindChoices }
  | { readonly do: 'cut' | 'restore' | 'bareRewind'; readonly at: number }
  | { readonly do: 'undo'; readonly which: number; readonly force: boolean }
  | {
      readonly do: 'interrupted';
      readonly at: number;
      readonly dies: number;
      readonly settle: 'abortRewind' | 'continueRewind';
    };

interface RewindChoices {
  readonly part: 'all' | 'events' | 'files';
  readonly only: string | undefined;
  readonly excludeTarget: boolean;
  readonly force: boolean;
  readonly allowPartial: boolean;
  readonly names: 'nothing' | 'workspace' | 'head' | 'wrong head';
}

// `d` is a folder for some of them: a file that takes its place is one of the changes.
export const NAMES = ['a', 'b', 'd/x', 'd/e/y', 'd', 'l'] as const;

const fraction = fc.integer({ min: 0, max: 99 });
const oftenTrue = fc.constantFrom(true, true, true, false);
const only = <const Name extends string>(...names: readonly Name[]) => fc.constantFrom(...names);

const rewindOf = fc.record({
  do: only('rewind'),
  at: fraction,
  options: fc.record({
    part: only('all', 'all', 'events', 'files'),
    only: fc.option(only(...NAMES), { nil: undefined, freq: 3 }),
    excludeTarget: fc.boolean(),
    force: oftenTrue,
    allowPartial: oftenTrue,
    names: only('nothing', 'nothing', 'workspace', 'head', 'wrong head'),
  }),
});

/** Any command, those that go back often enough to meet each other. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: only('edit'),
      name: only(...NAMES),
      content: fc.oneof(
        { weight: 3, arbitrary: only<Content & string>('', 'one', 'two', 'three') },
        { weight: 2, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom({ link: 'a' }, { link: 'nowhere' }, { link: 'd' }) },
        { weight: 1, arbitrary: fc.constantFrom({ mode: 0o755 }, { mode: 0o600 }) },
      ),
    }),
  },
  { weight: 4, arbitrary: rewindOf },
  {
    weight: 3,
    arbitrary: fc.record({
      do: only('append', 'batch', 'unless', 'compact', 'undoCompaction', 'goal', 'child', 'fork'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: only('title', 'model', 'spec', 'capture'), value: only('a', 'b', 'd/x') }),
  },
  { weight: 2, arbitrary: fc.record({ do: only('cut', 'restore', 'bareRewind'), at: fraction }) },
  { weight: 3, arbitrary: fc.record({ do: only('undo'), which: fraction, force: oftenTrue }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: only('interrupted'),
      at: fraction,
      dies: fc.integer({ min: 1, max: 40 }),
      settle: only('abortRewind', 'continueRewind'),
    }),
  },
);

/** What somebody else says behind an interrupted rewind. */
export const BY_ZERO = 'written by Zero';

/** What a command may be refused with; nothing is changed then. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'INCOMPLETE',
  'CONFLICT',
  'STALE_PLAN',
  'REWIND_NOT_FOUND',
  'GOAL_EXISTS',
]);

/**
 * Carries a command out.
 * @returns Whether it was done; false where it was refused, or where there was nothing to do it to.
 */
export async function carryOut(temp: TempWorkspace, command: Command): Promise<boolean> {
  try {
    return (await attempt(temp, command)) !== false;
  } catch (error) {
    if (REFUSALS.has((error as ZeroSessionsError).code)) return false;
    throw error;
  }
}

async function attempt(temp: TempWorkspace, command: Command): Promise<unknown> {
  const { store } = temp;
  switch (command.do) {
    case 'append':
      return temp.say();
    case 'batch':
      return store.appendEvents('s', [aMessage('1'), aMessage('2', 'assistant'), aMessage('3')]);
    case 'unless':
      return store.appendEventUnlessExists('s', aMessage('once'), (events) => events.length % 2 === 0);
    case 'compact': {
      const plan = await store.planCompaction('s', { preserveLast: 1 });
      return plan.compactableCount > 0 && store.recordCompaction('s', { plan, summary: 'S' });
    }
    case 'undoCompaction':
      return store.undoCompaction('s');
    case 'goal':
      return store.createGoal('s', 'reach it', 100);
    case 'child':
      return store.createChild('s', { agentName: 'worker' });
    case 'fork':
      return store.fork('s');
    case 'title':
      return store.updateTitle('s', command.value);
    case 'model':
      return store.updateModel('s', command.value);
    case 'spec':
      return store.recordSpec('s', { specId: command.value, specStatus: 'draft' });
    case 'capture':
      return store.captureToolCheckpoint('s', temp.workspace, 't', [command.value]);
    case 'edit':
      return edit(temp, command.name, command.content);
    case 'rewind':
      return rewind(temp, pick(temp, command.at), command.options);
    case 'bareRewind':
      return store.applyRewind('s', temp.workspace, pick(temp, command.at));
    case 'cut':
      return store.truncateEvents('s', pick(temp, command.at));
    case 'restore':
      return store.restoreToSequence('s', temp.workspace, pick(temp, command.at));
    case 'undo': {
      const ids = (await store.rewindHistory('s')).map(({ rewindId }) => rewindId);
      const rewindId = ids[Math.floor((command.which * ids.length) / 100)];
      return rewindId !== undefined && hasDone(await store.undoRewind('s', { rewindId, force: command.force }));
    }
    case 'interrupted':
      return interrupted(temp, pick(temp, command.at), command.dies, command.settle);
    default:
      return command satisfies never;
  }
}

/** Gives a sequence of the log, or 0. */
function pick(temp: TempWorkspace, at: number): number {
  const sequences = [0, ...temp.sequences()];
  return sequences[Math.floor((at * sequences.length) / 100)] ?? 0;
}

/** Changes a file as a tool does that captures all it touches, what is in its way as well. */
async function edit(temp: TempWorkspace, name: string, content: Content): Promise<unknown> {
  const isMode = content !== null && typeof content === 'object' && 'mode' in content;
  if (isMode) return kindAt(temp, name) === 'file' && temp.tool({ [name]: content });
  const inTheWay = kindAt(temp, name) === 'directory' ? filesIn(temp, name) : noFolders(temp, name);
  if (inTheWay.length > 0) await temp.tool(Object.fromEntries(inTheWay.map((path) => [path, null])));
  if (kindAt(temp, name) === 'directory') rmSync(temp.at(name), { recursive: true });
  return temp.tool({ [name]: content });
}

/** Gives what a tool would have to remove before it can write: a file in place of a folder, a link to no file. */
function noFolders(temp: TempWorkspace, name: string): readonly string[] {
  const above = dirname(name).split('/')[0] ?? '.';
  if (above !== '.' && (kindAt(temp, above) ?? 'directory') !== 'directory') return [above];
  // Seen through a link, a folder has entries.
  return kindAt(temp, name) === 'link' && kindAt(temp, `${name}/.`) !== undefined ? [name] : [];
}

/** Gives what is at a path, never followed. */
export function kindAt(temp: TempWorkspace, path: string): FileKind | undefined {
  try {
    return nodeFileSystem.lstat(`${temp.workspace}/${path}`)?.kind;
  } catch {
    return undefined; // below a link that leads in a circle
  }
}

function filesIn(temp: TempWorkspace, folder: string): readonly string[] {
  const paths = readdirSync(temp.at(folder)).map((name) => `${folder}/${name}`);
  return paths.flatMap((path) => (kindAt(temp, path) === 'directory' ? filesIn(temp, path) : [path]));
}

async function rewind(temp: TempWorkspace, target: number, choices: RewindChoices): Promise<unknown> {
  const { part, only: path, excludeTarget, force, allowPartial, names } = choices;
  const head = temp.sequences().at(-1) ?? 0;
  const done = await temp.store.rewind('s', {
    target,
    part,
    paths: path === undefined ? undefined : [path],
    excludeTarget: excludeTarget && target > 0,
    force,
    allowPartial,
    workspace: names === 'workspace' ? temp.workspace : undefined,
    expectHead: names === 'head' ? head : names === 'wrong head' ? head + 1 : undefined,
  });
  return hasDone(done);
}

function hasDone({ report }: RewindResult): boolean {
  return report.rewindId !== null;
}

/** A rewind whose process dies at some call before its commit; then somebody else appends, and it is settled. */
async function interrupted(
  temp: TempWorkspace,
  target: number,
  dies: number,
  settle: 'abortRewind' | 'continueRewind',
): Promise<boolean> {
  const calls = ['create', 'write', 'truncate', 'rename', 'link', 'unlink', 'rmdir', 'symlink', 'mkdir'] as const;
  let left = Number.POSITIVE_INFINITY;
  const dying = (call: (typeof calls)[number]) => {
    const real = temp.deps.fs[call] as (...args: unknown[]) => unknown;
    return (...args: unknown[]): unknown => {
      // Counted from when the intent is in the log; the record of the old log is what comes before the commit.
      if (left === Number.POSITIVE_INFINITY && temp.log().includes('rewind-intent')) left = dies;
      left -= 1;
      if (call === 'mkdir' && String(args[0]).includes('.zs/kept/')) left = 0;
      if (left <= 0) {
        left = 0; // for good
        throw Object.assign(new Error('EIO: dead'), { code: 'EIO' });
      }
      return real(...args);
    };
  };
  const fs = { ...temp.deps.fs, ...Object.fromEntries(calls.map((call) => [call, dying(call)])) };
  const wish = { target, force: true, allowPartial: true };
  const isDone = await new SessionStore({ ...temp.deps, fs }).rewind('s', wish).then(
    () => true,
    () => false,
  );
  if (isDone || !temp.log().trimEnd().split('\n').at(-1)?.includes('rewind-intent')) return isDone;
  appendLine(temp, (temp.sequences().at(-1) ?? 0) + 1, 'message', { content: BY_ZERO, role: 'user' });
  await temp.store[settle]('s', { force: true, allowPartial: true });
  // What Zero appended is counted by the next command.
  await temp.store.updateTitleIfCurrent('s', 'no such title', 'never');
  return true;
}
