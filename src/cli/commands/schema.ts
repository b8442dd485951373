import type { Command, RegistryEntry } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type JsonMembers, renderJsonValue } from '../render/json.js';
import { commandSchema, programSchema } from '../schema/schemas.js';

export const schema = defineCommand<JsonMembers>({
  description:
    'JSON Schema, draft 2020-12, for one command or for all of them. It covers errors too. Keys are added with time, ' +
    'and never change their meaning.',
  examples: ['zero-sessions schema list', 'zero-sessions schema show > show.schema.json'],
  arguments: [{ name: '[command...]', description: 'the command, such as list', value: 'command' }],
  options: [],
  schemas: [],
  output: { text: renderJsonValue, json: 'own' },
  run: async ({ commands }, args) => {
    const name = args.operands('command').join(' ');
    if (name === '') return programSchema(await documented(commands));
    const entry = commands.find((each) => each.name === name || each.aliases.includes(name));
    const command = await entry?.load();
    if (entry !== undefined && command !== undefined && command.schemas.length > 0) {
      return commandSchema(entry.name, command);
    }
    const known = [...(await documented(commands)).keys()].join(', ');
    const reason = entry === undefined ? 'There is no such command' : `${name} prints a format of its own`;
    throw new UsageError(`No schema for ${JSON.stringify(name)}: ${reason}`, `There is one for: ${known}`);
  },
});

/** Gives the commands that print documents, by name. */
async function documented(commands: readonly RegistryEntry[]): Promise<ReadonlyMap<string, Command>> {
  const loaded = await Promise.all(commands.map(async ({ name, load }) => [name, await load()] as const));
  return new Map(loaded.filter(([, command]) => command.schemas.length > 0));
}
