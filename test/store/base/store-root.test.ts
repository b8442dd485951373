import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { runCommandLine } from '../../support/run-cli.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

/** Gives the store of a folder, and a link to it. */
function linkedStore(): { readonly temp: TempStore; readonly link: string } {
  const temp = tempStore();
  const link = join(dirname(temp.root), 'link');
  mkdirSync(temp.root, { recursive: true });
  symlinkSync(temp.root, link);
  return { temp, link };
}

describe('finding 21: a root behind a link', () => {
  test('given one, then everything works through it and lands in the folder that it leads to', async () => {
    const { temp, link } = linkedStore();
    const store = openStore({ root: link });

    const { sessionId } = await store.create({ title: 'made' });
    await store.appendEvents(sessionId, [aMessage('one'), aMessage('two')]);
    const fork = await store.fork(sessionId);
    const child = await store.createChild(sessionId, { agentName: 'worker' });
    await store.rewind(sessionId, { target: 1 });

    const names = [sessionId, fork.sessionId, child.sessionId];
    expect(readdirSync(temp.root)).toEqual(expect.arrayContaining(names));
    expect((await store.list()).map(({ sessionId: id }) => id).sort()).toEqual(names.sort());
  });

  test('given a link above it and a root that is not there yet, then it is made where the link leads', async () => {
    const { temp, link } = linkedStore();
    const store = openStore({ root: join(link, 'zero', 'sessions') });

    await store.create({ sessionId: 's' });

    expect(readdirSync(join(temp.root, 'zero', 'sessions'))).toContain('s');
  });

  test('given a link that is changed meanwhile, then the store stays the one that was opened', async () => {
    const { temp, link } = linkedStore();
    const store = openStore({ root: link });
    await store.create({ sessionId: 's' });
    const other = join(dirname(temp.root), 'other');
    mkdirSync(other);
    symlinkSync(other, `${link}-new`);
    renameSync(`${link}-new`, link);

    await store.create({ sessionId: 't' });

    expect([readlinkSync(link), readdirSync(other)]).toEqual([other, []]);
    expect(readdirSync(temp.root)).toEqual(expect.arrayContaining(['s', 't']));
  });
});

describe('finding 21: a root that is no folder', () => {
  const REFUSED: readonly (readonly [string, (top: string) => string])[] = [
    ['a file', (top) => made(join(top, 'root'), (path) => writeFileSync(path, ''))],
    ['a dangling link', (top) => made(join(top, 'root'), (path) => symlinkSync('nowhere', path))],
    ['a link in a circle', (top) => made(join(top, 'root'), (path) => symlinkSync(path, path))],
    ['a link to a file', (top) => made(join(top, 'root'), (path) => symlinkSync('/etc/passwd', path))],
    [
      'below a file',
      (top) =>
        join(
          made(join(top, 'root'), (path) => writeFileSync(path, '')),
          'zero',
          'sessions',
        ),
    ],
    [
      'below a dangling link',
      (top) =>
        join(
          made(join(top, 'root'), (path) => symlinkSync('nowhere', path)),
          'sessions',
        ),
    ],
  ];

  test.each(REFUSED)('given %s, then it is an error, never an empty store, and nothing is made', async (_, rootIn) => {
    const top = topFolder();
    const root = rootIn(top);
    const before = readdirSync(top);

    for (const line of ['list', 'tree', 'create', 'show latest', 'info']) {
      const run = await runCommandLine([...line.split(' '), '--json'], { root });
      expect([line, run.code, JSON.parse(run.out).error?.code]).toEqual([line, 1, 'SYSTEM']);
    }

    expect(() => openStore({ root })).toThrow(expect.objectContaining({ code: 'SYSTEM' }));
    expect(readdirSync(top)).toEqual(before);
  });

  test('given nothing at all, then there are no sessions, and the first one makes it', async () => {
    const root = join(topFolder(), 'not', 'yet');

    expect(await openStore({ root }).list()).toEqual([]);
    await openStore({ root }).create({ sessionId: 's' });

    expect(lstatSync(root).isDirectory()).toBe(true);
  });
});

function topFolder(): string {
  return realpathSync(dirname(tempStore().root));
}

function made(path: string, make: (path: string) => void): string {
  make(path);
  return path;
}
