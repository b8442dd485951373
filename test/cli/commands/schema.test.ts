import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/registry.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('schema', () => {
  test('given a command, then what it prints is valid by it, and something else is not', async () => {
    const { root } = tempStore(aSession('one'));
    const validate = new Ajv2020().compile(JSON.parse((await runCommandLine(['schema', 'list'])).out));

    const document = JSON.parse((await runCommandLine(['list', '--json'], { root })).out);

    expect(validate(document)).toBe(true);
    expect(validate({ ...document, sessions: undefined })).toBe(false);
    expect(validate({ ...document, schemaVersion: 2 })).toBe(false);
  });

  test('given an alias, then it is the schema of the command', async () => {
    const alias = await runCommandLine(['schema', 'log']);
    const command = await runCommandLine(['schema', 'show']);

    expect(alias).toEqual(command);
  });

  test('given no command, then one schema holds for all of them', async () => {
    const { root } = tempStore(aSession('one').withMessages(1));
    const run = await runCommandLine(['schema']);
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(run.out));

    for (const argv of [['list'], ['tree'], ['show', 'one'], ['show', 'nobody']]) {
      const { out } = await runCommandLine([...argv, '--json'], { root });
      expect(validate(JSON.parse(out))).toBe(true);
    }
  });

  test.each(COMMANDS.map(({ name, load }) => [name, load] as const))(
    'given %s, then it has a schema if and only if it has documents',
    async (name, load) => {
      const command = await load();

      const { code } = await runCommandLine(['schema', ...name.split(' ')]);

      expect(code).toBe(command.schemas.length > 0 ? 0 : 2);
    },
  );

  test('given a command that there is not, then it exits 2 and names those that there are', async () => {
    const run = await runCommandLine(['schema', 'nonsense']);

    expect(run.code).toBe(2);
    expect(run.err).toContain('list');
  });

  test('given --json, then it is the same: it prints its own format', async () => {
    const plain = await runCommandLine(['schema', 'list']);
    const json = await runCommandLine(['schema', 'list', '--json']);

    expect(json).toEqual(plain);
  });
});
