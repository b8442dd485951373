import { resolve } from 'node:path';
import { compareCodePoints } from '../../model/json.js';
import { isResumableKind, type SessionMetadata } from '../../model/metadata.js';
import { parseInstant } from '../../model/time.js';
import type { LeftOver } from '../../store/queries/left-overs.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type ParsedArguments, parseCount, parseDay, parseFilled, parseTime, type Span } from '../input/arguments.js';
import { type ListView, listNotes, listWarnings, renderList } from '../render/list.js';
import { kindName } from '../render/listed-session.js';
import { sessionJson } from '../render/session-json.js';
import { HIDDEN_SCHEMA, SESSION_SCHEMA, UNREADABLE_SCHEMA } from '../schema/schema-parts.js';

const SORT_KEYS = ['updated', 'created', 'events', 'title'] as const;
type SortKey = (typeof SORT_KEYS)[number];
export const list = defineCommand<ListView>({
  description:
    'Conversations and forks, newest activity first; with --all or --kind the sessions of agents, side questions and ' +
    'specs as well. Only metadata are read, never a log. A session that cannot be read is a row with its fault.',
  examples: ['zero-sessions list --here --since 1w', 'zero-sessions list --all --sort events --limit 10'],
  arguments: [],
  options: [
    { flags: '--all', description: 'sessions of every kind' },
    {
      flags: '--kind <kind>',
      description: 'only this kind, "regular" for a conversation',
      repeat: true,
      value: 'kind',
    },
    {
      flags: '--cwd <dir>',
      description: 'only sessions of this folder, its git work tree, and below',
      value: 'folder',
    },
    { flags: '--here', description: 'only sessions of the present folder, its git work tree, and below' },
    { flags: '--exact', description: 'with --cwd or --here: of that very folder only' },
    { flags: '--tag <tag>', description: 'only sessions with this tag', value: 'tag' },
    { flags: '--model <model>', description: 'only sessions with this model', value: 'model' },
    { flags: '--provider <provider>', description: 'only sessions with this provider', value: 'provider' },
    { flags: '--since <time>', description: 'only sessions active at this time or later' },
    { flags: '--until <time>', description: 'only sessions active before this time' },
    { flags: '--on <day>', description: 'only sessions active on this day' },
    { flags: '--title <text>', description: 'only sessions with this in their title, in any case' },
    { flags: '--limit <n>', description: 'at most so many' },
    { flags: '--sort <key>', description: 'what decides the order', choices: SORT_KEYS },
    { flags: '--reverse', description: 'the other way round' },
    { flags: '--size', description: 'with the bytes of log and blobs' },
  ],
  schemas: [
    {
      sessions: { type: 'array', items: SESSION_SCHEMA },
      hidden: HIDDEN_SCHEMA,
      unreadable: { type: 'array', items: UNREADABLE_SCHEMA },
    },
  ],
  output: {
    text: renderList,
    json: (view, { redaction }) => ({
      members: {
        sessions: view.sessions.map((each) => sessionJson(each, redaction)),
        hidden: Object.fromEntries(Object.entries(view.hidden).map(([kind, count]) => [redaction.text(kind), count])),
        unreadable: view.unreadable.map((each) => ({ ...each, message: redaction.text(each.message) })),
      },
    }),
    jsonl: (view, { redaction }) => view.sessions.map((each) => sessionJson(each, redaction)),
    quiet: (view) => view.sessions.map(({ session }) => session.sessionId),
    warnings: listWarnings,
    notes: listNotes,
  },
  run: runList,
});

async function runList(context: CommandContext, args: ParsedArguments): Promise<ListView> {
  const { format, quiet } = context.globals;
  const matches = filterOf(args, context);
  const kinds = args.texts('kind').map((kind) => parseFilled(kind, '--kind'));
  const everyKind = args.flag('all') || kinds.length > 0;
  const limit = args.text('limit');
  const most = limit === undefined ? Number.POSITIVE_INFINITY : parseCount(limit, '--limit');
  const found = await context.store.listWithFaults();

  const matching = found.sessions.filter(matches);
  const wanted = matching.filter(
    everyKind
      ? (session) => kinds.length === 0 || kinds.includes(kindName(session))
      : (session) => isResumableKind(session.sessionKind),
  );
  const sorted = sortSessions(wanted, (args.text('sort') ?? 'updated') as SortKey);
  if (args.flag('reverse')) sorted.reverse();
  const shown = sorted.slice(0, most);
  const { isLive } = await context.store.liveSessions();
  return {
    sessions: await Promise.all(
      shown.map(async (session) => ({
        session,
        live: isLive(session.sessionId),
        ...(args.flag('size') ? { sizes: await context.store.measure(session.sessionId) } : {}),
      })),
    ),
    hidden: everyKind ? {} : countKinds(matching.filter((session) => !isResumableKind(session.sessionKind))),
    unreadable: found.unreadable,
    beyondLimit: sorted.length - shown.length,
    leftOvers: quiet ? 0 : (await context.store.leftOvers()).filter(isTelling).length,
    isFiltered: found.sessions.length > 0,
    root: context.store.root,
    withSizes: args.flag('size'),
    showsUnreadable: format === 'json' || (format === 'text' && !quiet),
  };
}

// A hidden file that is none of ours is a file manager's, and would be told each time.
function isTelling({ path }: LeftOver): boolean {
  return !path.startsWith('.') || path.startsWith('.zs-');
}

type SessionTest = (session: SessionMetadata) => boolean;

/** Gives one test of all flags but those on kinds. */
function filterOf(args: ParsedArguments, context: CommandContext): SessionTest {
  const tests: SessionTest[] = [];
  const folder = folderOf(args, context);
  if (folder !== undefined) {
    const isMeant = context.store.workTreeTest(folder, { exact: args.flag('exact') });
    tests.push(({ cwd }) => isMeant(cwd));
  } else if (args.flag('exact')) {
    throw new UsageError('--exact is for --cwd and --here');
  }
  for (const [flag, member] of EXACT_FLAGS) {
    const value = args.text(flag);
    if (value !== undefined) tests.push((session) => session[member] === value);
  }
  const title = args.text('title');
  if (title !== undefined) {
    const wanted = inAnyCase(title);
    tests.push((session) => inAnyCase(session.title ?? '').includes(wanted));
  }
  const span = spanOf(args, context);
  if (span !== undefined) {
    tests.push((session) => {
      const active = parseInstant(session.updatedAt);
      return active !== undefined && active >= span.since && active < span.until;
    });
  }
  return (session) => tests.every((test) => test(session));
}

const EXACT_FLAGS = [
  ['tag', 'tag'],
  ['model', 'modelId'],
  ['provider', 'provider'],
] as const;

function inAnyCase(text: string): string {
  return text.normalize().toLowerCase();
}

function folderOf(args: ParsedArguments, { cwd }: CommandContext): string | undefined {
  const folder = args.text('cwd');
  if (folder === undefined) return args.flag('here') ? cwd : undefined;
  if (args.flag('here')) throw new UsageError('--here does not go with --cwd');
  return resolve(cwd, parseFilled(folder, '--cwd'));
}

/** Gives the span of time that is asked for; the beginning belongs to it, the end does not. */
function spanOf(args: ParsedArguments, { now }: CommandContext): Span | undefined {
  const day = args.text('on');
  const since = args.text('since');
  const until = args.text('until');
  if (day !== undefined) {
    if (since !== undefined || until !== undefined) throw new UsageError('--on does not go with --since and --until');
    return parseDay(day, '--on', now());
  }
  if (since === undefined && until === undefined) return undefined;
  return {
    since: since === undefined ? Number.NEGATIVE_INFINITY : parseTime(since, '--since', now()),
    until: until === undefined ? Number.POSITIVE_INFINITY : parseTime(until, '--until', now()),
  };
}

/** Gives the sessions in the order of a key; equal ones keep the order of the store, newest activity first. */
function sortSessions(sessions: readonly SessionMetadata[], key: SortKey): SessionMetadata[] {
  switch (key) {
    case 'updated':
      return [...sessions];
    case 'created':
      return sortedBy(sessions, (session) => -(parseInstant(session.createdAt) ?? Number.NEGATIVE_INFINITY));
    case 'events':
      return sortedBy(sessions, (session) => -session.eventCount);
    case 'title':
      return [...sessions].sort((a, b) => compareCodePoints(sortTitle(a), sortTitle(b)));
    default:
      return key satisfies never;
  }
}

function sortedBy(
  sessions: readonly SessionMetadata[],
  rankOf: (session: SessionMetadata) => number,
): SessionMetadata[] {
  // Compared, not subtracted: infinities leave no difference.
  const compare = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);
  return [...sessions].sort((a, b) => compare(rankOf(a), rankOf(b)));
}

function sortTitle({ title }: SessionMetadata): string {
  return (title ?? '').toLowerCase();
}

function countKinds(sessions: readonly SessionMetadata[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const session of sessions) counts.set(kindName(session), (counts.get(kindName(session)) ?? 0) + 1);
  return Object.fromEntries(counts);
}
