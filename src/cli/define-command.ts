import type { Command, CommandDefinition } from './command.js';
import { deliver } from './report/deliver.js';

/** Makes a command of its definition. */
export function defineCommand<View>(definition: CommandDefinition<View>): Command {
  const { run, output, ...rest } = definition;
  return {
    ...rest,
    hasJson: output.json !== 'none',
    hasJsonl: output.jsonl !== undefined,
    execute: async (context, args) => deliver(context, output, await run(context, args)),
  };
}
