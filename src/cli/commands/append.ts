import type { StoredEvent } from '../../model/event.js';
import { meetsCondition, parseEventCondition } from '../../plan/event-condition.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import type { ParsedArguments } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { parseEventLines } from '../input/parse-event-lines.js';
import { readInput } from '../input/read-input.js';
import { eventJson } from '../render/event-json.js';
import { safeText } from '../render/safe-text.js';
import { EVENT_SCHEMA } from '../schema/schema-parts.js';

/** What `append` wrote. */
interface AppendView {
  readonly events: readonly StoredEvent[];
  /** False when nothing was written since the event of `--unless-exists` was there. */
  readonly appended: boolean;
  readonly unless: string | undefined;
}

export const append = defineCommand<AppendView>({
  description:
    'Reads events from stdin, one JSON object a line, and appends all of them or none. Payloads are stored as they ' +
    'are; id, sequence and time are given by the store. --unless-exists looks and appends in one step: of several ' +
    'processes one appends.',
  examples: [
    `echo '{"type":"message","payload":{"role":"user","content":"hello"}}' | zero-sessions append latest`,
    'zero-sessions append latest --unless-exists message:/role=system < events.jsonl',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    {
      flags: '--unless-exists <type[:/pointer=value]>',
      description: 'only if there is no event of this type (with this value in its payload)',
      value: 'event-type',
    },
  ],
  writes: true,
  schemas: [{ events: { type: 'array', items: EVENT_SCHEMA }, appended: { type: 'boolean' } }],
  output: {
    text: ({ events }, { redaction }) =>
      events.map(({ sequence, type }) => `${sequence} ${safeText(redaction.text(type))}\n`).join(''),
    json: ({ events, appended }, { redaction }) => ({
      members: { events: events.map((event) => eventJson(event, redaction)), appended },
    }),
    jsonl: ({ events }, { redaction }) => events.map((event) => eventJson(event, redaction)),
    quiet: ({ events }) => events.map(({ sequence }) => String(sequence)),
    notes: appendNotes,
  },
  run: runAppend,
});

async function runAppend(context: CommandContext, args: ParsedArguments): Promise<AppendView> {
  const unless = args.text('unless-exists');
  const condition = unless === undefined ? undefined : parseEventCondition(unless);
  const id = await findSession(context, args.operand('session') ?? '');
  const inputs = parseEventLines(await readInput(context, 'events'));
  if (condition === undefined || inputs.length === 0) {
    return { events: await context.store.appendEvents(id, inputs), appended: true, unless };
  }
  const { events, appended } = await context.store.appendEventsUnlessAny(id, inputs, (event) =>
    meetsCondition(event, condition),
  );
  return { events, appended, unless };
}

function appendNotes({ events, appended, unless }: AppendView): readonly string[] {
  if (!appended) return [`Nothing was appended: there is an event ${unless}.`];
  return events.length === 0 ? ['Nothing was appended: stdin has no events.'] : [];
}
