import type { CreateInput } from '../../store/operations/create-session.js';
import type { CommandContext, OptionSpec } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type ParsedArguments, parseCount } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { DESCRIPTION_FLAGS, describedSession, filledText, ID_FLAG } from '../input/metadata-flags.js';
import {
  WRITTEN_SESSION_OUTPUT,
  WRITTEN_SESSION_SCHEMAS,
  type WrittenSession,
  writtenSession,
} from '../report/written-session.js';

/** Flags of plain text, and the member of the metadata that each one is. */
const TEXT_FLAGS = [
  ['root-session', 'rootSessionId', 'id', 'id of the first ancestor (else that of the parent)'],
  ['forked-from-event', 'forkedFromEventId', 'id', 'id of the event that it was forked after'],
  ['spawned-from-event', 'spawnedFromEventId', 'id', 'id of the event that it was spawned after'],
  ['spec-id', 'specId', 'id', 'id of its spec'],
  ['spec-file', 'specFilePath', 'path', 'file of its spec'],
  ['spec-status', 'specStatus', 'status', 'draft, approved or rejected'],
  ['spec-draft-model', 'specDraftModelId', 'model', 'the model that drafted its spec'],
  ['spec-draft-reasoning', 'specDraftReasoning', 'effort', 'with how much reasoning'],
  ['spec-comment', 'specUserComment', 'text', "the user's comment on its spec"],
  ['spec-reject-reason', 'specRejectReason', 'text', 'why its spec was rejected'],
  ['spec-source', 'specSourceSessionId', 'id', 'id of the session that its spec comes from'],
  ['spec-impl', 'specImplSessionId', 'id', 'id of the session that implements its spec'],
] as const satisfies readonly (readonly [
  flag: string,
  member: keyof CreateInput,
  value: string,
  description: string,
])[];

const COUNT_FLAGS = [
  ['forked-from-sequence', 'forkedFromSequence', 'sequence of the event that it was forked after'],
  ['spawned-from-sequence', 'spawnedFromSequence', 'sequence of the event that it was spawned after'],
] as const satisfies readonly (readonly [flag: string, member: keyof CreateInput, description: string])[];

const OPTIONS: readonly OptionSpec[] = [
  ID_FLAG,
  ...DESCRIPTION_FLAGS,
  { flags: '--kind <kind>', description: 'its kind; a conversation when left out', value: 'kind' },
  { flags: '--parent <session>', description: 'the session that it comes from', value: 'session' },
  { flags: '--depth <n>', description: 'how many sessions are above it' },
  { flags: '--agent <name>', description: 'name of its agent' },
  { flags: '--task <id>', description: 'id of its task' },
  { flags: '--prompt <text>', description: 'of a child: what it was asked' },
  ...TEXT_FLAGS.map(([flag, , value, description]) => ({ flags: `--${flag} <${value}>`, description })),
  ...COUNT_FLAGS.map(([flag, , description]) => ({ flags: `--${flag} <n>`, description })),
];

export const create = defineCommand<WrittenSession>({
  description:
    'The new session has no events; its id goes to stdout. Without --cwd it works in the present folder. With --parent ' +
    'and no other --kind it is a child, and both logs say so.',
  examples: [
    'id=$(zero-sessions create --title "Fix the login" -q)',
    'zero-sessions create --parent latest --agent review',
  ],
  arguments: [],
  options: OPTIONS,
  writes: true,
  schemas: WRITTEN_SESSION_SCHEMAS,
  output: WRITTEN_SESSION_OUTPUT,
  run: runCreate,
});

async function runCreate(context: CommandContext, args: ParsedArguments): Promise<WrittenSession> {
  const described = { cwd: context.cwd, ...describedSession(args, context.cwd) };
  const kind = filledText(args, 'kind');
  const parent = filledText(args, 'parent');
  const depth = args.text('depth');
  const shared = {
    ...described,
    ...(depth === undefined ? {} : { depth: parseCount(depth, '--depth') }),
    agentName: filledText(args, 'agent'),
    taskId: filledText(args, 'task'),
  };
  const rest = restOf(args);
  const isChild = parent !== undefined && (kind === undefined || kind === 'child');
  const parentId = parent === undefined ? undefined : await findSession(context, parent);
  if (parentId !== undefined && isChild) {
    refuseForChild(rest);
    const { cwd, ...given } = shared;
    const input = { ...given, ...(args.flag('cwd') ? { cwd } : {}), prompt: args.text('prompt') };
    const session = await context.store.createChild(parentId, input);
    return writtenSession(context, session, [`A child of ${parentId}.`]);
  }
  if (args.flag('prompt')) throw new UsageError('--prompt is for a child: give --parent as well');
  const root = parentId === undefined ? undefined : ((await context.store.get(parentId))?.rootSessionId ?? parentId);
  const session = await context.store.create({
    ...shared,
    sessionKind: kind === 'regular' ? undefined : kind,
    parentSessionId: parentId,
    rootSessionId: root,
    ...rest,
  });
  return writtenSession(context, session, []);
}

/** Gives what the less usual flags say. */
function restOf(args: ParsedArguments): Partial<CreateInput> {
  const rest: Record<string, string | number> = {};
  for (const [flag, member] of TEXT_FLAGS) {
    const value = filledText(args, flag);
    if (value !== undefined) rest[member] = value;
  }
  for (const [flag, member] of COUNT_FLAGS) {
    const value = args.text(flag);
    if (value !== undefined) rest[member] = parseCount(value, `--${flag}`);
  }
  return rest;
}

// A child's links are made of its parent's log.
function refuseForChild(rest: Partial<CreateInput>): void {
  const [member] = Object.keys(rest);
  if (member === undefined) return;
  const flag = [...TEXT_FLAGS, ...COUNT_FLAGS].find(([, each]) => each === member)?.[0];
  throw new UsageError(`--${flag} does not go with a child`, 'Give another --kind to set the metadata yourself.');
}
