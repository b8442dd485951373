import { PayloadDamagedError } from '../../errors.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import { eventName, sequenceText } from '../../model/ids.js';
import type { CheckpointSummary } from '../../store/queries/read-checkpoints.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { isCheckpointOfUser } from '../input/find-position.js';
import { findSession } from '../input/find-session.js';
import type { Redaction } from '../redaction.js';
import { type CheckpointListView, renderCheckpoints } from '../render/checkpoint.js';
import type { JsonMembers } from '../render/json.js';
import { sequenceJson } from '../render/numbers.js';
import { EXIT_DAMAGED, EXIT_DONE } from '../report/exit-codes.js';
import { CHECKPOINT_SCHEMA, fileJson } from './checkpoint-files.js';

export const checkpointList = defineCommand<CheckpointListView>({
  description:
    'Each records what some files were before a tool changed them. To go back to just before one of them, rewind to the ' +
    'event above it, or to it with --exclude-target.',
  examples: ['zero-sessions checkpoint list latest'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [],
  schemas: [{ checkpoints: { type: 'array', items: CHECKPOINT_SCHEMA } }],
  output: {
    text: renderCheckpoints,
    json: ({ checkpoints }, { redaction }) => ({
      members: { checkpoints: checkpoints.map((each) => checkpointJson(each, redaction)) },
    }),
    jsonl: ({ checkpoints }, { redaction }) => checkpoints.map((each) => checkpointJson(each, redaction)),
    quiet: ({ checkpoints }) => checkpoints.map(sequenceText),
    warnings: ({ damage }) => damage,
    notes: ({ checkpoints, sessionId }) =>
      checkpoints.length === 0 ? [`Session ${sessionId} has no checkpoints.`] : [],
    exitCode: ({ damage }) => (damage.length > 0 ? EXIT_DAMAGED : EXIT_DONE),
  },
  run: async (context, args) => {
    const sessionId = await findSession(context, args.operand('session') ?? '');
    return { sessionId, ...(await readCheckpoints(context, sessionId)) };
  },
});

/** Gives a checkpoint as JSON. */
export function checkpointJson(checkpoint: CheckpointSummary, redaction: Redaction): JsonMembers {
  const { eventId, createdAt, tool, files } = checkpoint;
  return {
    sequence: sequenceJson(checkpoint),
    eventId,
    createdAt,
    tool: redaction.text(tool),
    files: files.map(({ path, state }) => fileJson(path, state, redaction)),
  };
}

/** Reads what is good of the checkpoints, beside what is not. */
async function readCheckpoints(
  { store, signal }: CommandContext,
  sessionId: string,
): Promise<Omit<CheckpointListView, 'sessionId'>> {
  const checkpoints: CheckpointSummary[] = [];
  const damage: string[] = [];
  for await (const item of store.scanEvents(sessionId, { signal })) {
    if (item.kind === 'damage') {
      damage.push(`Session ${sessionId}: line ${item.damage.line} ${item.damage.message}`);
      continue;
    }
    const { event } = item;
    if (!isCheckpointOfUser(event)) continue;
    try {
      const { tool, files } = decodeCheckpoint(event);
      const { sequence, exactSequence, createdAt } = event;
      checkpoints.push({ sequence, exactSequence, eventId: eventName(event, sessionId), createdAt, tool, files });
    } catch (error) {
      if (!(error instanceof PayloadDamagedError)) throw error;
      damage.push(error.message);
    }
  }
  return { checkpoints, damage };
}
