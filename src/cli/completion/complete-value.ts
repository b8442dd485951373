import { EVENT_TYPES, type StoredEvent } from '../../model/event.js';
import { sequenceText, sessionIdOfFolder } from '../../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../../model/metadata.js';
import { parseInstant } from '../../model/time.js';
import type { CommandContext, ValueKind } from '../command.js';
import { isCheckpointOfUser } from '../input/find-position.js';
import { findSession } from '../input/find-session.js';
import { HIDE_SECRETS } from '../redaction.js';
import { COMMANDS } from '../registry.js';
import { eventLine, shownEvent } from '../render/event-view.js';
import { kindName, REGULAR_KIND } from '../render/listed-session.js';
import { relativeTime } from '../render/time.js';
import { bareCandidates, type Candidate, type Completion } from './candidate.js';
import { commandCandidates, memberCandidates, type WantedValue } from './complete-line.js';
import { SHELLS } from './completions.js';

const LATEST = 'latest';
const HERE = 'here';
const LAST_CHECKPOINT = 'last-checkpoint';
const KINDS = [REGULAR_KIND, 'fork', 'child', 'side', 'spec-draft', 'spec-impl'] as const;
// `parent:root:…`; what stands behind them is a session of its own.
const RELATIONS = /^(?:(?:parent|root):)*(?:id:)?/;
// Somebody waits: no more of a log is looked at, from its end, than shows at once.
const MOST_POSITIONS = 100;
const MOST_EVENTS_READ = 2_000;
const MOST_PAYLOAD_BYTES = 32 * 1024;

/** Gives the values of a kind that begin with what was typed, or leaves them to the shell. */
export async function completeValue(context: CommandContext, wanted: WantedValue, typed: string): Promise<Completion> {
  const kind: ValueKind = wanted.of;
  switch (kind) {
    case 'file':
      return { kind: 'files' };
    case 'folder':
      return { kind: 'folders' };
    case 'session':
      return words(await sessionCandidates(context, typed));
    case 'position':
      return words(await positionCandidates(context, wanted.session, typed));
    case 'kind':
      return words(bareCandidates([...KINDS, ...(await distinct(context, kindName))]));
    case 'tag':
      return words(bareCandidates(await distinct(context, ({ tag }) => tag)));
    case 'model':
      return words(bareCandidates(await distinct(context, ({ modelId }) => modelId)));
    case 'provider':
      return words(bareCandidates(await distinct(context, ({ provider }) => provider)));
    case 'event-type':
      return words(bareCandidates(EVENT_TYPES));
    case 'command':
      return words(commandNames(wanted.previous));
    case 'shell':
      return words(bareCandidates(SHELLS));
    case 'other':
      return words([]);
    default:
      return kind satisfies never;
  }
}

function words(candidates: readonly Candidate[]): Completion {
  return { kind: 'words', candidates };
}

async function sessionCandidates(context: CommandContext, typed: string): Promise<readonly Candidate[]> {
  const lead = RELATIONS.exec(typed)?.[0] ?? '';
  const isPlainId = lead.endsWith('id:');
  const { sessions, unreadable } = await context.store.listWithFaults();
  const offered = lead.endsWith('parent:') ? sessions.filter(hasParent) : sessions;
  const resumable = isPlainId ? [] : sessions.filter(({ sessionKind }) => isResumableKind(sessionKind));
  const isHere = context.store.workTreeTest(context.cwd);
  const latest = resumable[0];
  const here = resumable.find(({ cwd }) => isHere(cwd));
  const nowMs = context.now().getTime();
  // The rule for these words comes before the one for ids.
  const wordOf = (id: string) => ((id === LATEST || id === HERE) && !isPlainId ? `${lead}id:${id}` : lead + id);
  return [
    ...[
      { word: LATEST, session: latest },
      { word: HERE, session: here },
    ].flatMap(({ word, session }) =>
      session !== undefined && offered.includes(session)
        ? [{ word: lead + word, description: sessionText(session, nowMs) }]
        : [],
    ),
    ...offered
      .filter(({ sessionId }) => isId(sessionId))
      .map((session) => ({ word: wordOf(session.sessionId), description: sessionText(session, nowMs) })),
    // Of these nothing is known but the id.
    ...(lead === '' || lead === 'id:' ? unreadable : []).map(({ sessionId }) => ({
      word: wordOf(sessionId),
      description: 'cannot be read',
    })),
  ];
}

// What metadata say of the id has been seen to be anything.
function isId(text: string): boolean {
  return sessionIdOfFolder(text) !== undefined;
}

function hasParent({ parentSessionId }: SessionMetadata): boolean {
  return parentSessionId !== undefined && parentSessionId !== '';
}

function sessionText(session: SessionMetadata, nowMs: number): string {
  const age = relativeTime(parseInstant(session.updatedAt) ?? Number.NaN, nowMs);
  const kind = kindName(session);
  const title = session.title === undefined || session.title === '' ? '(no title)' : HIDE_SECRETS.text(session.title);
  // A shell cuts what is too long, and of a title the beginning will do.
  return [age, ...(kind === REGULAR_KIND ? [] : [HIDE_SECRETS.text(kind)]), title].join(' · ');
}

/** Gives the events of a session as positions, newest first. */
async function positionCandidates(
  context: CommandContext,
  name: string | undefined,
  typed: string,
): Promise<readonly Candidate[]> {
  const lastCheckpoint = { word: LAST_CHECKPOINT, description: 'the event before the latest checkpoint' };
  if (name === undefined || name === '') return [lastCheckpoint];
  const sessionId = await findSession(context, name);
  const wordOf = (event: StoredEvent) => (typed.includes(':') ? event.id : sequenceText(event));
  const candidates: Candidate[] = [];
  let read = 0;
  let mayHaveCheckpoint = false;
  for await (const item of context.store.scanEvents(sessionId, { direction: 'backwards', signal: context.signal })) {
    read += 1;
    if (read > MOST_EVENTS_READ || candidates.length >= MOST_POSITIONS) {
      mayHaveCheckpoint = true;
      break;
    }
    if (item.kind === 'damage') continue;
    mayHaveCheckpoint ||= isCheckpointOfUser(item.event);
    const word = wordOf(item.event);
    if (word.startsWith(typed)) candidates.push({ word, description: eventText(item.event) });
  }
  return mayHaveCheckpoint ? [lastCheckpoint, ...candidates] : candidates;
}

function eventText(event: StoredEvent): string {
  const isLong = event.payload !== undefined && event.payload.length > MOST_PAYLOAD_BYTES;
  const type = HIDE_SECRETS.text(event.type);
  return isLong ? type : `${type} · ${eventLine(shownEvent(event, HIDE_SECRETS))}`;
}

/** Gives what sessions have, each once, that of the newest first. What looks like a secret is not among it. */
async function distinct(
  { store }: CommandContext,
  memberOf: (session: SessionMetadata) => string | undefined,
): Promise<readonly string[]> {
  const { sessions } = await store.listWithFaults();
  const values = new Set(sessions.map(memberOf).filter((value) => value !== undefined));
  return [...values].filter((value) => !value.startsWith('-') && HIDE_SECRETS.text(value) === value);
}

function commandNames(previous: string | undefined): readonly Candidate[] {
  if (previous === undefined) return commandCandidates('');
  return memberCandidates(COMMANDS.filter(({ name }) => name.startsWith(`${previous} `)));
}
