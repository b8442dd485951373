import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SessionStore, StoreOptions, StoreWarning } from '../../src/index.js';
import type { StoreDeps } from '../../src/store/base/deps.js';
import { storeDeps } from '../../src/store/open-store.js';
import { SessionStore as Store } from '../../src/store/session-store.js';
import { type FixedClock, fixedClock } from './fixed-clock.js';
import { inProcessLocks } from './in-process-locks.js';
import type { SessionBuilder } from './session-builder.js';

/** A store in a folder of its own, which is gone when the test is over. */
export interface TempStore {
  readonly store: SessionStore;
  /** What the store works with, for the files below the public interface. */
  readonly deps: StoreDeps;
  /** The id of the first session. */
  readonly id: string;
  readonly root: string;
  readonly clock: FixedClock;
  readonly warnings: readonly StoreWarning[];
  /** Gives the path of something in the first session's folder; of the folder itself without a name. */
  path(...names: readonly string[]): string;
  /** Gives a file of the first session as text; invalid UTF-8 as U+FFFD. */
  text(name: string): string;
  bytes(name: string): Uint8Array;
  mode(...names: readonly string[]): number;
  /** Names everything in the store but lock files, in order. */
  tree(): readonly string[];
}

/** Lays the sessions in a temporary folder and opens a store on it, with a clock that stands still. */
export function tempStore(
  sessions: SessionBuilder | readonly SessionBuilder[] = [],
  options: StoreOptions = {},
): TempStore {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-store-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = options.root ?? join(top, 'sessions');
  const laid = [sessions].flat() as readonly SessionBuilder[];
  for (const session of laid) laySession(root, session);
  const clock = fixedClock();
  const warnings: StoreWarning[] = [];
  const deps = storeDeps({
    root,
    now: clock.now,
    locks: inProcessLocks,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  const id = laid[0]?.id ?? 's';
  const path = (...names: readonly string[]): string => join(root, id, ...names);
  return {
    store: new Store(deps),
    deps,
    id,
    root,
    clock,
    warnings,
    path,
    text: (name) => readFileSync(path(name), 'utf8'),
    bytes: (name) => readFileSync(path(name)),
    mode: (...names) => lstatSync(path(...names)).mode & 0o7777,
    tree: () =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.endsWith('session.lock') && !name.startsWith('.zs-locks'))
        .sort(),
  };
}

/** Writes the files of a session below a store's root. */
export function laySession(root: string, session: SessionBuilder): void {
  const { id, metadata, events } = session.build();
  const folder = join(root, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (metadata !== undefined) writeFileSync(join(folder, 'metadata.json'), metadata, { mode: 0o600 });
  if (events !== undefined) writeFileSync(join(folder, 'events.jsonl'), events, { mode: 0o600 });
}
