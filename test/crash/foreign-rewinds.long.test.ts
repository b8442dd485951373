import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/index.js';
import { random } from '../support/random.js';
import { journalOf, startActor } from './store-actor.js';
import { readStoreStrictly, realDisk } from './strict-reader.js';

const LONG = process.env.CRASH_RUN === 'long';
const KILLS = LONG ? 200 : 24;

// One of ours is killed again and again; the foreign program is not, as what its own death leaves is not ours to promise.
test('14. finding 2, 4, 7: beside a foreign program that snapshots without a lock, rewinds, uses numbers again and prunes blobs: nothing acknowledged is lost but what it dropped, numbers rise, named blobs are there', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-foreign-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'sessions');
  const store = openStore({ root, lockTimeoutMs: 60_000 });
  await store.create({ sessionId: 'mixed', cwd: join(folder, 'space-mixed') });
  const choice = random(20261203);
  const place = { root, session: 'mixed', folder };
  const foreigner = await startActor('foreignTool', { ...place, name: 'foreigner' });
  const appender = await startActor('append', { ...place, name: 'appender' });
  for (let kill = 0; kill < KILLS; kill += 1) {
    const ours = await startActor('beside', { ...place, name: 'ours' });
    await ours.within(choice.pick(['a', 'r', 'u', 'r', 'u']), choice.pick(['start', 'lock']), choice.below(1000) / 900);
    await ours.kill();
    await store.updateTitleIfCurrent('mixed', 'no such title', 'never'); // recovers
  }
  await foreigner.leave();
  await appender.kill();
  await store.updateTitleIfCurrent('mixed', 'no such title', 'never');

  // Throws where sequences do not rise, an id is not its sequence's, or a blob that the log names is missing or altered.
  const [mixed] = readStoreStrictly(realDisk, root);
  const told = ['foreigner', 'appender', 'ours'].flatMap((name) => journalOf(folder, name));
  const dropped = new Set(told.flatMap((each) => ('dropped' in each ? each.dropped : [])));
  const held = new Set(logsOf(join(root, 'mixed')).flatMap(contentsOf));
  const lost = told.flatMap((each) =>
    'content' in each && !held.has(each.content) && !dropped.has(each.content) ? [each.content] : [],
  );

  expect(mixed?.events.length).toBeGreaterThan(0);
  expect(told.filter((each) => 'dropped' in each).length, 'rewinds of the foreign program').toBeGreaterThan(0);
  expect(lost).toEqual([]);
}, 1_200_000);

function logsOf(folder: string): readonly string[] {
  const kept = join(folder, '.zs/kept');
  const records = existsSync(kept) ? readdirSync(kept).map((id) => join(kept, id, 'events.jsonl')) : [];
  return [join(folder, 'events.jsonl'), ...records].map((path) => readFileSync(path, 'utf8'));
}

function contentsOf(log: string): readonly string[] {
  return log.split('\n').flatMap((line) => {
    if (!line.endsWith('}')) return [];
    const { payload } = JSON.parse(line) as { readonly payload?: { readonly content?: unknown } };
    return typeof payload?.content === 'string' ? [payload.content] : [];
  });
}
