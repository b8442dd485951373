import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { documentOf } from '../support/json-document.js';
import { runCommandLine } from '../support/run-cli.js';
import { contents, type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

const WRITERS: Readonly<Record<string, (store: SessionStore, temp: TempWorkspace) => Promise<unknown>>> = {
  appendEvent: (store) => store.appendEvent('evil', aMessage()),
  appendEventUnlessAny: (store) => store.appendEventUnlessAny('evil', aMessage(), () => false),
  updateTitle: (store) => store.updateTitle('evil', 'new'),
  updateTitleIfCurrent: (store) => store.updateTitleIfCurrent('evil', '', 'new'),
  updateModel: (store) => store.updateModel('evil', 'new'),
  rewind: (store) => store.rewind('evil', { target: 1, force: true }),
  'rewind of the log alone': (store) => store.rewind('evil', { target: 1, part: 'events' }),
  undo: (store) => store.undoRewind('evil'),
  restore: (store, temp) => store.restoreToSequence('evil', temp.workspace, 1),
  truncate: (store) => store.truncateEvents('evil', 1),
  capture: (store, temp) => store.captureToolCheckpoint('evil', temp.workspace, 't', ['a']),
  createGoal: (store) => store.createGoal('evil', 'all of it'),
  recordSpec: (store) => store.recordSpec('evil', { specId: 'x', specStatus: 'draft' }),
  createChild: (store) => store.createChild('evil', { sessionId: 'c' }),
  fork: (store) => store.fork('evil', { sessionId: 'f' }),
};

/** The session `s`, a copy of it called `evil` whose metadata hold this id, and a folder beside the store. */
async function aCopy(inside: string): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'a0' });
  await temp.say();
  await temp.tool({ a: 'a1' });
  await temp.store.truncateEvents('s', 4);
  cpSync(temp.path(), join(temp.root, 'evil'), { recursive: true });
  const metadata = JSON.parse(temp.text('metadata.json')) as object;
  const text = JSON.stringify({ ...metadata, sessionId: inside }, null, 2);
  writeFileSync(join(temp.root, 'evil', 'metadata.json'), `${text}\n`);
  mkdirSync(join(dirname(temp.root), 'victim'));
  writeFileSync(join(dirname(temp.root), 'victim', 'metadata.json'), temp.text('metadata.json'));
  temp.clock.pass(60_000);
  return temp;
}

describe('metadata that name another session', () => {
  test.each(['../victim', 's', 'S', '/etc', '..', 'evil/../s', ' evil'])(
    '36. given %j inside, then every writer refuses it, and no file of either changes',
    async (inside) => {
      const temp = await aCopy(inside);
      const everything = (): unknown => contents(dirname(temp.root));
      const before = everything();

      for (const [name, write] of Object.entries(WRITERS)) {
        await expect(write(temp.store, temp), name).rejects.toMatchObject({
          code: 'METADATA_DAMAGED',
          message: expect.stringContaining(JSON.stringify(inside)),
        });
      }

      expect(everything()).toEqual(before);
    },
  );

  test('36. given that, then it is listed as damaged under the name of its folder, once, and its events can be read', async () => {
    const temp = await aCopy('s');

    const { sessions, unreadable } = await documentOf(
      'list',
      (await runCommandLine(['list', '--json'], { root: temp.root })).out,
    );

    expect([sessions, unreadable]).toMatchObject([
      [{ sessionId: 's' }],
      [{ sessionId: 'evil', code: 'METADATA_DAMAGED' }],
    ]);
    expect(await temp.store.readEvents('evil')).toHaveLength(4);
  });
});
