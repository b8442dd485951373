import {
  LogMissingError,
  MetadataDamagedError,
  MetadataMissingError,
  PathRefusedError,
  SessionNotFoundError,
  type ZeroSessionsError,
} from '../../errors.js';
import type { LineDamage, StoredEvent } from '../../model/event.js';
import { viewEvent } from '../../model/event-view.js';
import { sequenceText } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { sessionPaths } from '../../store/base/layout.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { NotYetError, UsageError } from '../errors.js';
import { type ParsedArguments, parseCount, parseFilled } from '../input/arguments.js';
import { findPosition, isCheckpointOfUser } from '../input/find-position.js';
import { findSession } from '../input/find-session.js';
import { readRaw } from '../input/read-raw.js';
import { type EventSelection, readSelection } from '../input/read-selection.js';
import { eventJson } from '../render/event-json.js';
import type { JsonView } from '../render/json.js';
import type { ListedSession } from '../render/listed-session.js';
import type { LogSummary, ShownDamage, ShowView } from '../render/session-header.js';
import { sessionJson } from '../render/session-json.js';
import { renderShow } from '../render/show.js';
import { EXIT_DAMAGED, EXIT_DONE } from '../report/exit-codes.js';
import { DAMAGE_SCHEMA, EVENT_SCHEMA, SESSION_SCHEMA } from '../schema/schema-parts.js';

export const show = defineCommand<ShowView>({
  description:
    'Who said what, which tools were called and what they gave, which files were kept. The number before each event is ' +
    'its position: other commands take it. A range includes both ends; positions are 12, an event id, -2 (two events ' +
    'follow it) or last-checkpoint.',
  examples: [
    'zero-sessions show latest',
    'zero-sessions show latest --events --tail 20',
    'zero-sessions show "Fix the login" --type message --jsonl',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--events', description: 'one table row an event' },
    { flags: '--replay', description: 'as a model would see it, compactions honoured' },
    { flags: '--type <type>', description: 'only events of this type', repeat: true, value: 'event-type' },
    { flags: '--from <position>', description: 'the first event to show', value: 'position' },
    { flags: '--to <position>', description: 'the last event to show', value: 'position' },
    { flags: '--tail <n>', description: 'only the last so many' },
    { flags: '--full', description: 'results, arguments and summaries whole' },
    { flags: '--raw', description: 'the bytes as they are stored, secrets and all' },
    { flags: '--follow', description: 'keep printing what is appended (not yet)' },
  ],
  schemas: [
    {
      session: SESSION_SCHEMA,
      summary: {
        type: 'object',
        required: ['events', 'tokens', 'checkpoints'],
        properties: { events: { type: 'integer' }, tokens: { type: 'number' }, checkpoints: { type: 'integer' } },
      },
      events: { type: 'array', items: EVENT_SCHEMA },
      damage: { type: 'array', items: DAMAGE_SCHEMA },
    },
  ],
  output: {
    verbatim: ({ raw }) => raw,
    text: renderShow,
    json: (view, { redaction }) => ({
      leading: {
        session: sessionJson(view.session as ListedSession, redaction),
        summary: { ...(view.summary ?? { events: 0, tokens: 0, checkpoints: 0 }) },
      },
      name: 'events',
      items: mapEvents(view.items, (event) => eventJson(event, redaction, view.session.session.sessionId)),
      trailing: () => ({
        damage: view.damage.map((each) => ({ ...each, message: redaction.text(each.message) })),
      }),
    }),
    jsonl: (view, { redaction }) =>
      mapEvents(view.items, (event): JsonView => eventJson(event, redaction, view.session.session.sessionId)),
    quiet: (view) => mapEvents(view.items, sequenceText),
    warnings: ({ session, damage }) => damageWarnings(session.session.sessionId, damage),
    notes: ({ isTorn }) => (isTorn ? ['The log ends in an append that was cut short; it is left out.'] : []),
    exitCode: ({ damage }) => (damage.length > 0 ? EXIT_DAMAGED : EXIT_DONE),
  },
  run: runShow,
});

// Counting means reading: at the end of a longer log that would be most of the work.
const MAX_COUNTED_FOR_TAIL_BYTES = 8 * 1024 * 1024;

async function runShow(context: CommandContext, args: ParsedArguments): Promise<ShowView> {
  if (args.flag('follow')) throw new NotYetError('show --follow', 'See what is there now without --follow.');
  refuseContradictions(args);
  const id = await findSession(context, args.operand('session') ?? '');
  const damage: ShownDamage[] = [];
  const session = await readSession(context, id, damage);
  const selection = await selectionOf(context, id, args);
  const log = await context.store.logFile(id);
  const counted = 'eventCount' in session.session ? session.session.eventCount : 0;
  if (log.bytes === undefined && counted > 0) damage.push(damageOf(new LogMissingError(id, log.path, counted)));
  const items = noting(readSelection(context, id, selection), damage);
  const isRaw = args.flag('raw');
  return {
    session,
    lostKin: await lostKinOf(context, session.session),
    summary: isRaw || !wantsSummary(context, args, log.bytes ?? 0) ? undefined : await summarize(context, id),
    items,
    damage,
    raw: isRaw ? readRaw(context, id, selection, items) : undefined,
    form: args.flag('events') ? 'table' : 'conversation',
    full: args.flag('full'),
    isTorn: selection.to === undefined && log.isTorn,
  };
}

function refuseContradictions(args: ParsedArguments): void {
  for (const other of ['events', 'replay', 'full']) {
    if (args.flag('raw') && args.flag(other)) throw new UsageError(`--raw does not go with --${other}`);
  }
}

async function readSession(context: CommandContext, id: string, damage: ShownDamage[]): Promise<ShowView['session']> {
  const { isLive } = await context.store.liveSessions();
  try {
    const session = await context.store.get(id);
    if (session !== null) return { session, live: isLive(id) };
    damage.push(damageOf(new MetadataMissingError(id, sessionPaths(`${context.store.root}/${id}`).metadata)));
  } catch (error) {
    // The log is there all the same, and it is what was asked for.
    if (!(error instanceof MetadataDamagedError || error instanceof PathRefusedError)) throw error;
    damage.push(damageOf(error));
  }
  return { session: { sessionId: id }, live: isLive(id) };
}

async function lostKinOf({ store }: CommandContext, session: Partial<SessionMetadata>): Promise<ReadonlySet<string>> {
  const lost = new Set<string>();
  for (const id of new Set([session.parentSessionId, session.rootSessionId])) {
    if (id === undefined) continue;
    try {
      await store.resolve(`id:${id}`);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
      lost.add(id);
    }
  }
  return lost;
}

async function selectionOf(context: CommandContext, id: string, args: ParsedArguments): Promise<EventSelection> {
  const tail = args.text('tail');
  const positionOf = async (flag: 'from' | 'to') => {
    const position = args.text(flag);
    return position === undefined ? undefined : await findPosition(context, id, parseFilled(position, `--${flag}`));
  };
  return {
    from: await positionOf('from'),
    to: await positionOf('to'),
    types: new Set(args.texts('type').map((type) => parseFilled(type, '--type'))),
    tail: tail === undefined ? undefined : parseCount(tail, '--tail'),
    replay: args.flag('replay'),
  };
}

function wantsSummary({ globals }: CommandContext, args: ParsedArguments, logBytes: number): boolean {
  if (globals.format === 'json') return true;
  if (globals.format === 'jsonl' || globals.quiet || args.flag('events')) return false;
  return !args.flag('tail') || logBytes <= MAX_COUNTED_FOR_TAIL_BYTES;
}

/** Counts what is good in the whole log. */
async function summarize({ store, signal }: CommandContext, id: string): Promise<LogSummary> {
  let events = 0;
  let tokens = 0;
  let checkpoints = 0;
  for await (const item of store.scanEvents(id, { signal })) {
    if (item.kind === 'damage') continue;
    events += 1;
    if (item.event.type === 'provider_usage') tokens += tokensOf(item.event);
    else if (isCheckpointOfUser(item.event)) checkpoints += 1;
  }
  return { events, tokens, checkpoints };
}

function tokensOf(event: StoredEvent): number {
  const view = viewEvent(event);
  if (view.type !== 'usage') return 0;
  return view.total > 0 ? view.total : view.prompt + view.completion;
}

/** Gives the items as they come, and notes the damage among them. */
async function* noting(items: AsyncIterable<ScannedLine>, damage: ShownDamage[]): AsyncGenerator<ScannedLine> {
  for await (const item of items) {
    if (item.kind === 'damage') damage.push(damageOfLine(item.damage));
    yield item;
  }
}

function damageOf({ code, message }: ZeroSessionsError): ShownDamage {
  return { line: null, code, message };
}

function damageOfLine({ line, code, message }: LineDamage): ShownDamage {
  return line === 0 ? { line: null, code, message } : { line, code, message: `line ${line} ${message}` };
}

async function* mapEvents<T>(items: AsyncIterable<ScannedLine>, map: (event: StoredEvent) => T): AsyncGenerator<T> {
  for await (const item of items) if (item.kind === 'event') yield map(item.event);
}

const MAX_WARNINGS = 5;

function damageWarnings(id: string, damage: readonly ShownDamage[]): readonly string[] {
  const warnings = damage
    .slice(0, MAX_WARNINGS)
    .map(({ line, message }) => (line === null ? message : `Session ${id}: ${message}`));
  const rest = damage.length - warnings.length;
  return rest > 0 ? [...warnings, `Session ${id}: ${rest} more damaged lines; --json lists all of them`] : warnings;
}
