import type { Command, MemberSchemas } from '../command.js';
import { type JsonMembers, type JsonView, SCHEMA_VERSION } from '../render/json.js';
import { BUG_CODE, EXIT_CODES } from '../report/exit-codes.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const VERSION_SCHEMA = { const: SCHEMA_VERSION } as const;

/** What `--json` prints when something goes wrong, and `--jsonl` as its last line. */
export const ERROR_SCHEMA: JsonMembers = {
  type: 'object',
  required: ['schemaVersion', 'error'],
  properties: {
    schemaVersion: VERSION_SCHEMA,
    error: {
      type: 'object',
      required: ['code', 'message', 'hint'],
      properties: {
        code: { enum: [...Object.keys(EXIT_CODES), BUG_CODE] },
        message: { type: 'string' },
        hint: { type: 'string' },
      },
    },
  },
};

type Documented = Pick<Command, 'schemas' | 'schemaDefinitions'>;

/** Gives the JSON Schema of what a command prints with `--json`: one of its documents, or an error. */
export function commandSchema(name: string, command: Documented): JsonMembers {
  const { schemaDefinitions } = command;
  return {
    $schema: DIALECT,
    title: `zero-sessions ${name} --json`,
    anyOf: documents(command),
    ...(schemaDefinitions === undefined ? {} : { $defs: schemaDefinitions }),
  };
}

/** Gives one JSON Schema for all commands; `$defs` has each by its name. */
export function programSchema(commands: ReadonlyMap<string, Documented>): JsonMembers {
  const definitions = [...commands].map(([name, command]) => [name, { anyOf: documents(command) }] as const);
  const shared = [...commands.values()].map(({ schemaDefinitions }) => schemaDefinitions ?? {});
  return {
    $schema: DIALECT,
    title: 'zero-sessions --json',
    anyOf: definitions.map(([name]) => ({ $ref: `#/$defs/${encodeURIComponent(name)}` })),
    $defs: Object.assign(Object.fromEntries(definitions), ...shared),
  };
}

function documents({ schemas }: Documented): readonly JsonView[] {
  return [...schemas.map(documentSchema), ERROR_SCHEMA];
}

/** Every key is always there, also when it is empty; more may come (CLI.md, "JSON"). */
function documentSchema(members: MemberSchemas): JsonView {
  return {
    type: 'object',
    required: ['schemaVersion', ...Object.keys(members)],
    properties: { schemaVersion: VERSION_SCHEMA, ...members },
  };
}
