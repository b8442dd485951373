import { CycleError } from '../../errors.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { type ParsedArguments, parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers, JsonView } from '../render/json.js';
import { kindName } from '../render/listed-session.js';
import { type ForestNode, growForest, pathTo, prune, type SessionForest, walk } from '../render/session-forest.js';
import { sessionJson } from '../render/session-json.js';
import { renderTree, type TreeView } from '../render/tree.js';
import { EXIT_DAMAGED, EXIT_DONE } from '../report/exit-codes.js';
import { SESSION_SCHEMA } from '../schema/schema-parts.js';

export const tree = defineCommand<TreeView>({
  description:
    'Forks, sessions of agents, side questions and specs stand under the session that they came from, with the event ' +
    'after which they left it. With a session: what came from it, and the path down to it.',
  examples: ['zero-sessions tree', 'zero-sessions tree latest --kind fork'],
  arguments: [{ name: '[session]', description: 'the session whose tree to show', value: 'session' }],
  options: [
    { flags: '--kind <kind>', description: 'only this kind, and what leads to it', repeat: true, value: 'kind' },
  ],
  schemas: [
    {
      path: { type: 'array', items: SESSION_SCHEMA },
      trees: { type: 'array', items: { $ref: '#/$defs/treeNode' } },
    },
  ],
  schemaDefinitions: {
    treeNode: {
      type: 'object',
      required: ['session', 'children'],
      properties: {
        session: SESSION_SCHEMA,
        children: { type: 'array', items: { $ref: '#/$defs/treeNode' } },
      },
    },
  },
  output: {
    text: renderTree,
    json: ({ path, trees, isLive }, { redaction }) => ({
      members: {
        path: path.map((session) => sessionJson({ session, live: isLive(session.sessionId) }, redaction)),
        trees: trees.map((top) => treeJson(top, isLive, redaction)),
      },
    }),
    quiet: function* ({ trees }) {
      for (const top of trees) for (const { node } of walk(top)) yield node.session.sessionId;
    },
    warnings: ({ unreadable, rings }) => [
      ...unreadable.map(({ message }) => message),
      ...rings.map((ring) => new CycleError(ring).message),
    ],
    notes: ({ trees, root }) => (trees.length === 0 ? [`No sessions in ${root} to show.`] : []),
    exitCode: ({ unreadable, rings }) => (unreadable.length + rings.length > 0 ? EXIT_DAMAGED : EXIT_DONE),
  },
  run: runTree,
});

async function runTree(context: CommandContext, args: ParsedArguments): Promise<TreeView> {
  const kinds = args.texts('kind').map((kind) => parseFilled(kind, '--kind'));
  const name = args.operand('session');
  const id = name === undefined ? undefined : await findSession(context, name);
  const { sessions, unreadable } = await context.store.listWithFaults();
  const forest = growForest(sessions);
  const tops = id === undefined ? forest.roots : [await nodeOf(forest, id, context)];
  const isWanted = (session: SessionMetadata) => kinds.length === 0 || kinds.includes(kindName(session));
  return {
    path: id === undefined ? [] : tops.flatMap((top) => pathTo(top).map(({ session }) => session)),
    trees: kinds.length === 0 ? tops : tops.flatMap((top) => prune(top, isWanted) ?? []),
    isLive: (await context.store.liveSessions()).isLive,
    unreadable,
    rings: id === undefined ? forest.rings : [],
    root: context.store.root,
  };
}

async function nodeOf(forest: SessionForest, id: string, { store }: CommandContext): Promise<ForestNode> {
  const node = forest.nodes.get(id);
  if (node === undefined) {
    // It is there, but cannot be read: the store says why.
    await store.lineage(id);
    throw new Error(`${id} is in no list`);
  }
  const ring = forest.rings.find((each) => each.includes(id) || leadsTo(node, new Set(each)));
  if (ring !== undefined) throw new CycleError(ring);
  return node;
}

function leadsTo(node: ForestNode, ring: ReadonlySet<string>): boolean {
  for (let at: ForestNode | undefined = node; at !== undefined; at = at.parent) {
    if (ring.has(at.session.sessionId)) return true;
  }
  return false;
}

function treeJson(top: ForestNode, isLive: TreeView['isLive'], redaction: Redaction): JsonMembers {
  const made = new Map<ForestNode, { readonly session: JsonView; readonly children: JsonView[] }>();
  for (const { node } of walk(top)) {
    const session = sessionJson({ session: node.session, live: isLive(node.session.sessionId) }, redaction);
    const json = { session, children: [] };
    made.set(node, json);
    // A pruned top has a parent that is not shown.
    if (node !== top && node.parent !== undefined) made.get(node.parent)?.children.push(json);
  }
  return made.get(top) as JsonMembers;
}
