import type { RecordSpecInput } from '../../store/operations/record-spec.js';
import type { OptionSpec } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { findSession } from '../input/find-session.js';
import { filledText } from '../input/metadata-flags.js';
import { SPEC_OUTPUT, SPEC_SCHEMAS, type SpecView, specView } from './spec-view.js';

const FLAGS = [
  ['spec-id', 'specId', 'id', 'id of the spec'],
  ['spec-file', 'specFilePath', 'path', 'file of the spec'],
  ['spec-draft-model', 'specDraftModelId', 'model', 'the model that drafted it'],
  ['spec-draft-reasoning', 'specDraftReasoning', 'effort', 'with how much reasoning'],
  ['spec-comment', 'specUserComment', 'text', "the user's comment on it"],
  ['spec-reject-reason', 'specRejectReason', 'text', 'why it was rejected'],
  ['spec-source', 'specSourceSessionId', 'id', 'id of the session that it comes from'],
  ['spec-impl', 'specImplSessionId', 'id', 'id of the session that implements it'],
] as const satisfies readonly (readonly [string, keyof RecordSpecInput, string, string])[];

const STATUSES = ['draft', 'approved', 'rejected'] as const;

const OPTIONS: readonly OptionSpec[] = [
  { flags: '--spec-status <status>', description: 'what became of the spec', choices: STATUSES },
  ...FLAGS.map(([flag, , value, description]) => ({ flags: `--${flag} <${value}>`, description })),
];

export const specRecord = defineCommand<SpecView>({
  description:
    'Sets what is given, keeps the rest, and adds a spec_draft, spec_approved or spec_rejected event with all of it.',
  examples: [
    'zero-sessions spec record latest --spec-id login --spec-status draft --spec-file specs/login.md',
    'zero-sessions spec record latest --spec-status approved',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: OPTIONS,
  writes: true,
  schemas: SPEC_SCHEMAS,
  output: SPEC_OUTPUT,
  run: async (context, args) => {
    const specStatus = args.text('spec-status');
    if (specStatus === undefined) {
      throw new UsageError('spec record needs --spec-status', `Give one of: ${STATUSES.join(', ')}.`);
    }
    const given = FLAGS.flatMap(([flag, member]) => {
      const value = filledText(args, flag);
      return value === undefined ? [] : [[member, value] as const];
    });
    const id = await findSession(context, args.operand('session') ?? '');
    const { session, event } = await context.store.recordSpec(id, { ...Object.fromEntries(given), specStatus });
    return specView(context, session, event, []);
  },
});
