import { resolve } from 'node:path';
import type { OptionSpec } from '../command.js';
import { type ParsedArguments, parseFilled } from './arguments.js';

/** The flags that say what a new session is to be, the same in every command that makes one. */
export const ID_FLAG: OptionSpec = {
  flags: '--id <id>',
  description: 'its id (else a fresh one that rises with time)',
};
export const DESCRIPTION_FLAGS: readonly OptionSpec[] = [
  { flags: '--title <text>', description: 'its title' },
  { flags: '--cwd <dir>', description: 'the folder that it works in', value: 'folder' },
  { flags: '--model <model>', description: 'its model', value: 'model' },
  { flags: '--provider <provider>', description: 'its provider', value: 'provider' },
  { flags: '--tag <tag>', description: 'its tag', value: 'tag' },
];

/** What {@link ID_FLAG} and {@link DESCRIPTION_FLAGS} say; a member that was not given is left out. */
interface DescribedSession {
  readonly sessionId?: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly modelId?: string;
  readonly provider?: string;
  readonly tag?: string;
}

const MEMBERS = [
  ['id', 'sessionId'],
  ['title', 'title'],
  ['cwd', 'cwd'],
  ['model', 'modelId'],
  ['provider', 'provider'],
  ['tag', 'tag'],
] as const;

/**
 * Gives what the flags say of a session; a folder is made absolute.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for a value that is blank.
 */
export function describedSession(args: ParsedArguments, presentFolder: string): DescribedSession {
  const described: Record<string, string> = {};
  for (const [flag, member] of MEMBERS) {
    const value = filledText(args, flag);
    if (value !== undefined) described[member] = flag === 'cwd' ? resolve(presentFolder, value) : value;
  }
  return described;
}

/**
 * Gives the value of a flag, without the space around it, or undefined when it was not given.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when it is blank.
 */
export function filledText(args: ParsedArguments, flag: string): string | undefined {
  const value = args.text(flag);
  return value === undefined ? undefined : parseFilled(value, `--${flag}`);
}
