import { sessionPaths } from '../../store/base/layout.js';
import { defineCommand } from '../define-command.js';
import { findSession } from '../input/find-session.js';
import { safeText } from '../render/safe-text.js';

export const path = defineCommand<{ readonly path: string }>({
  description: 'The folder has metadata.json, events.jsonl and checkpoints. Another program may be writing to them.',
  examples: ['cd "$(zero-sessions path latest)"', 'wc -l "$(zero-sessions path latest)/events.jsonl"'],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [],
  schemas: [{ path: { type: 'string' } }],
  output: {
    // Piped it is the path to the byte: it is of the user's own root, not of a session.
    text: ({ path }, { width }) => `${width === undefined ? path : safeText(path)}\n`,
    json: (view) => ({ members: { path: view.path } }),
  },
  run: async (context, args) => {
    const id = await findSession(context, args.operand('session') ?? '');
    return { path: sessionPaths(`${context.store.root}/${id}`).folder };
  },
});
