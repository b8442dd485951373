import type { StoredEvent } from '../../model/event.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { findSession } from '../input/find-session.js';
import { renderSpec } from '../render/spec.js';
import { SPEC_OUTPUT, SPEC_SCHEMAS, type SpecView, specView } from './spec-view.js';

export const specShow = defineCommand<SpecView>({
  description: 'What the metadata say of the spec, and the last event about it.',
  examples: ['zero-sessions spec show latest'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [],
  schemas: SPEC_SCHEMAS,
  output: { ...SPEC_OUTPUT, text: renderSpec },
  run: async (context, args) => {
    const id = await findSession(context, args.operand('session') ?? '');
    const metadata = await context.store.require(id);
    const note = (metadata.specId ?? '') === '' ? [`Session ${id} has no spec.`] : [];
    return specView(context, metadata, await lastSpecEvent(context, id), note);
  },
});

const SPEC_TYPES: ReadonlySet<string> = new Set(['spec_draft', 'spec_approved', 'spec_rejected']);

async function lastSpecEvent({ store, signal }: CommandContext, id: string): Promise<StoredEvent | null> {
  for await (const event of store.events(id, { direction: 'backwards', signal })) {
    if (SPEC_TYPES.has(event.type)) return event;
  }
  return null;
}
