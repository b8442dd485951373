import type { Command } from './command.js';

/** A command's names and the line that help opens with; the rest of it is loaded when it is wanted. */
export interface RegistryEntry {
  /** `list`, or `checkpoint capture` for one of a group. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** An imperative line without a full stop. */
  readonly summary: string;
  readonly group: 'Look' | 'Change' | 'Go on' | 'Help';
  readonly load: () => Promise<Command>;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly RegistryEntry[] = [
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'List the sessions of a store',
    group: 'Look',
    load: async () => (await import('./commands/list.js')).list,
  },
  {
    name: 'tree',
    aliases: [],
    summary: 'Show which session came from which',
    group: 'Look',
    load: async () => (await import('./commands/tree.js')).tree,
  },
  {
    name: 'show',
    aliases: ['log'],
    summary: 'Show what was said and done in a session',
    group: 'Look',
    load: async () => (await import('./commands/show.js')).show,
  },
  {
    name: 'children',
    aliases: [],
    summary: 'List the children of a session',
    group: 'Look',
    load: async () => (await import('./commands/children.js')).children,
  },
  {
    name: 'lineage',
    aliases: [],
    summary: 'List a session and its ancestors',
    group: 'Look',
    load: async () => (await import('./commands/lineage.js')).lineage,
  },
  {
    name: 'path',
    aliases: [],
    summary: 'Print the folder of a session',
    group: 'Look',
    load: async () => (await import('./commands/path.js')).path,
  },
  {
    name: 'create',
    aliases: [],
    summary: 'Make a session',
    group: 'Change',
    load: async () => (await import('./commands/create.js')).create,
  },
  {
    name: 'append',
    aliases: [],
    summary: 'Append events from stdin to a session',
    group: 'Change',
    load: async () => (await import('./commands/append.js')).append,
  },
  {
    name: 'rename',
    aliases: [],
    summary: 'Give a session another title',
    group: 'Change',
    load: async () => (await import('./commands/rename.js')).rename,
  },
  {
    name: 'rewind',
    aliases: [],
    summary: 'Go back to an earlier point in a session, log and files',
    group: 'Change',
    load: async () => (await import('./commands/rewind.js')).rewind,
  },
  {
    name: 'compact',
    aliases: [],
    summary: 'Put a summary in place of all but the last events',
    group: 'Change',
    load: async () => (await import('./commands/compact.js')).compact,
  },
  {
    name: 'checkpoint capture',
    aliases: [],
    summary: 'Keep files as they are, before they are changed',
    group: 'Change',
    load: async () => (await import('./commands/checkpoint-capture.js')).checkpointCapture,
  },
  {
    name: 'checkpoint list',
    aliases: [],
    summary: 'List the checkpoints of a session',
    group: 'Change',
    load: async () => (await import('./commands/checkpoint-list.js')).checkpointList,
  },
  {
    name: 'checkpoint show',
    aliases: [],
    summary: 'Show files as they were at a point of a session',
    group: 'Change',
    load: async () => (await import('./commands/checkpoint-show.js')).checkpointShow,
  },
  {
    name: 'checkpoint diff',
    aliases: [],
    summary: 'Show what changed in files since a point of a session',
    group: 'Change',
    load: async () => (await import('./commands/checkpoint-diff.js')).checkpointDiff,
  },
  {
    name: 'checkpoint restore',
    aliases: [],
    summary: 'Bring files back to what they were at a point of a session',
    group: 'Change',
    load: async () => (await import('./commands/checkpoint-restore.js')).checkpointRestore,
  },
  {
    name: 'spec record',
    aliases: [],
    summary: 'Record what became of the spec of a session',
    group: 'Change',
    load: async () => (await import('./commands/spec-record.js')).specRecord,
  },
  {
    name: 'spec implement',
    aliases: [],
    summary: 'Find or make the session that implements a spec',
    group: 'Change',
    load: async () => (await import('./commands/spec-implement.js')).specImplement,
  },
  {
    name: 'spec show',
    aliases: [],
    summary: 'Show the spec of a session',
    group: 'Change',
    load: async () => (await import('./commands/spec-show.js')).specShow,
  },
  {
    name: 'fork',
    aliases: [],
    summary: 'Start a new session from the events of another',
    group: 'Go on',
    load: async () => (await import('./commands/fork.js')).fork,
  },
  {
    name: 'resume',
    aliases: [],
    summary: 'Go on with a session',
    group: 'Go on',
    load: async () => (await import('./commands/resume.js')).resume,
  },
  {
    name: 'schema',
    aliases: [],
    summary: 'Print the JSON Schema of what a command prints with --json',
    group: 'Help',
    load: async () => (await import('./commands/schema.js')).schema,
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'Print the script that completes command lines in a shell',
    group: 'Help',
    load: async () => (await import('./commands/completion.js')).completion,
  },
  {
    name: 'info',
    aliases: [],
    summary: 'Print what a bug report needs',
    group: 'Help',
    load: async () => (await import('./commands/info.js')).info,
  },
  {
    name: 'demo',
    aliases: [],
    summary: 'Take a guided tour through a sample store',
    group: 'Help',
    load: async () => (await import('./commands/demo.js')).demo,
  },
];

/** What is said of a group of commands. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  checkpoint: 'Keep files as they are, look at what was kept, and bring it back',
  spec: 'Record a spec, and find or make the session that implements it',
};

/** Commands that CLI.md promises for later; until then they exit 2 and say so. */
export const LATER_COMMANDS: readonly string[] = [
  'verify',
  'repair',
  'gc',
  'search',
  'usage',
  'tag',
  'prune',
  'delete',
  'rm',
  'archive',
  'export',
  'import',
];

/**
 * The flags, of all commands, that always take a value: what follows one is not the command. A test compares them with
 * the commands.
 */
export const FLAGS_WITH_VALUE: ReadonlySet<string> = new Set([
  '--root',
  '--color',
  '--lock-timeout',
  '--kind',
  '--cwd',
  '--tag',
  '--model',
  '--provider',
  '--since',
  '--until',
  '--on',
  '--title',
  '--limit',
  '--sort',
  '--type',
  '--from',
  '--to',
  '--tail',
  '--id',
  '--unless-exists',
  '--tool',
  '--preserve-last',
  '--max-prompt-chars',
  '--part',
  '--summary',
  '--summary-file',
  '--summarizer',
  '--workspace',
  '--expect-head',
  '--at',
  '--depth',
  '--agent',
  '--task',
  '--parent',
  '--prompt',
  '--root-session',
  '--forked-from-event',
  '--forked-from-sequence',
  '--spawned-from-event',
  '--spawned-from-sequence',
  '--spec-id',
  '--spec-file',
  '--spec-status',
  '--spec-draft-model',
  '--spec-draft-reasoning',
  '--spec-comment',
  '--spec-reject-reason',
  '--spec-source',
  '--spec-impl',
]);
