import type { StoredEvent } from '../../model/event.js';
import { viewEvent } from '../../model/event-view.js';
import { trimSpace } from '../../model/ids.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import type { ParsedArguments } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { DESCRIPTION_FLAGS, describedSession, filledText } from '../input/metadata-flags.js';
import { readInputText, STDIN } from '../input/read-input.js';
import { SPEC_OUTPUT, SPEC_SCHEMAS, type SpecView, specView } from './spec-view.js';

export const specImplement = defineCommand<SpecView>({
  description:
    'Gives the session that implements the spec of this session; it is made by the first that asks, and the prompt is ' +
    'added to it once. What is not given it takes from this session. The spec is the one recorded for the session, or the one that --spec-id names.',
  examples: ['impl=$(zero-sessions spec implement latest --prompt "Implement specs/login.md" -q)'],
  arguments: [
    { name: '<session>', description: 'the session with the spec: an id, a title, latest, …', value: 'session' },
  ],
  options: [
    { flags: '--prompt <text>', description: 'the first prompt of the implementation; - for stdin' },
    { flags: '--spec-id <id>', description: 'id of the spec' },
    // One that is found keeps what it has; a tag has no place in it.
    ...DESCRIPTION_FLAGS.filter(({ flags }) => !flags.startsWith('--tag')),
  ],
  writes: true,
  schemas: SPEC_SCHEMAS,
  output: SPEC_OUTPUT,
  run: runImplement,
});

async function runImplement(context: CommandContext, args: ParsedArguments): Promise<SpecView> {
  const { store } = context;
  const given = args.text('prompt');
  if (given === undefined) throw new UsageError('spec implement needs --prompt', 'Say what is to be implemented.');
  const source = await findSession(context, args.operand('session') ?? '');
  const recorded = await store.get(source);
  const specId = filledText(args, 'spec-id') ?? trimSpace(recorded?.specId ?? '');
  if (specId === '') {
    throw new UsageError(
      `Session ${source} has no spec`,
      'Record one with zero-sessions spec record, or give --spec-id.',
    );
  }
  const prompt = given === STDIN ? await readInputText(context, 'the prompt') : given;
  if (trimSpace(prompt) === '') throw new UsageError('--prompt is blank', 'Say what is to be implemented.');
  const found = await store.findSpecImplementation(specId, source);
  const described = describedSession(args, context.cwd);
  const isRecorded = recorded?.specId === specId;
  const { session, events } = await store.ensureSpecImplementation({
    title: described.title,
    cwd: described.cwd ?? recorded?.cwd,
    modelId: described.modelId ?? recorded?.modelId,
    provider: described.provider ?? recorded?.provider,
    specId,
    ...(isRecorded
      ? {
          specFilePath: recorded.specFilePath,
          specDraftModelId: recorded.specDraftModelId,
          specDraftReasoning: recorded.specDraftReasoning,
          specUserComment: recorded.specUserComment,
        }
      : {}),
    specSourceSessionId: source,
    prompt,
  });
  const note = found === null ? `Made for spec ${specId} of ${source}.` : `It was there already, for spec ${specId}.`;
  return specView(context, session, events.findLast((event) => isPrompt(event, prompt)) ?? null, [note]);
}

function isPrompt(event: StoredEvent, prompt: string): boolean {
  if (event.type !== 'message') return false;
  const view = viewEvent(event);
  return view.type === 'message' && view.role === 'user' && view.content === prompt;
}
