import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { COMMANDS } from '../../src/cli/registry.js';
import { commandSchema, ERROR_SCHEMA } from '../../src/cli/schema/schemas.js';

/** What a test may look at without knowing more: members of documents. */
// biome-ignore lint/suspicious/noExplicitAny: a test names the members that it expects, and fails when they are not there
export type JsonDocument = any;

const validators = new Map<string, Promise<ValidateFunction>>();

/**
 * Gives the document that a command printed under `--json`, once it is valid by the command's own schema.
 *
 * The schema is taken strictly: a member that it does not name is an error here, though scripts must expect more.
 * @param command - Its full name: `list`, `checkpoint capture`.
 * @throws Error that says what is wrong with the document.
 */
export async function documentOf(command: string, json: string): Promise<JsonDocument> {
  const document: JsonDocument = JSON.parse(json);
  const validator = validators.get(command) ?? compile(command);
  validators.set(command, validator);
  const validate = await validator;
  if (validate(document)) return document;
  throw new Error(`${command} --json is not what its schema says: ${JSON.stringify(validate.errors)}\n${json}`);
}

/** Gives the error document that a command line printed, valid by the schema of errors. */
export function errorOf(json: string): JsonDocument {
  const document: JsonDocument = JSON.parse(json);
  const validate = new Ajv2020().compile(ERROR_SCHEMA);
  if (validate(document)) return (document as JsonDocument).error;
  throw new Error(`This is no error: ${JSON.stringify(validate.errors)}\n${json}`);
}

async function compile(name: string): Promise<ValidateFunction> {
  const entry = COMMANDS.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`There is no command ${name}`);
  const schema = strict(commandSchema(entry.name, await entry.load()));
  return new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema as object);
}

/** Gives a schema in which objects have no more members than it names; errors carry facts that it does not name. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, strict(value)] as const);
  const members = Object.fromEntries(entries);
  const properties = members.properties as Readonly<Record<string, unknown>> | undefined;
  const isClosed = members.type === 'object' && properties !== undefined && !('hint' in properties);
  return isClosed && members.additionalProperties === undefined ? { ...members, additionalProperties: false } : members;
}
