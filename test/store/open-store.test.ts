import { homedir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { defaultRoot, InvalidArgumentError, openStore } from '../../src/index.js';

describe('finding 30: the root of a store', () => {
  test.each([{}, { HOME: '' }, { HOME: ' \t' }, { XDG_DATA_HOME: '  ' }])(
    'given %j, which name none, then it is in the home of the process',
    (env) => {
      expect(defaultRoot(env, '/home/p')).toBe('/home/p/.local/share/zero/sessions');
      expect(openStore({ env, home: '/home/p' }).root).toBe('/home/p/.local/share/zero/sessions');
    },
  );

  test('given no word about the home of the process, then the system is asked', () => {
    expect(defaultRoot({})).toBe(defaultRoot({ HOME: homedir() }));
  });

  test.each(['', '  '])('given no home at all (%j), then there is no store', (home) => {
    expect(() => defaultRoot({}, home)).toThrow(InvalidArgumentError);
    expect(() => openStore({ env: {}, home })).toThrow(InvalidArgumentError);
    expect(openStore({ env: {}, home, root: '/data' }).root).toBe('/data');
  });
});
