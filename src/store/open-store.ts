import { isAbsolute, join, resolve } from 'node:path';
import { InvalidArgumentError } from '../errors.js';
import { type FileSystem, nodeFileSystemWith } from '../fs/file-system.js';
import { formerUser, homeOfThisProcess, homesOfPeople, ownHomes } from '../fs/home-folders.js';
import type { OnRefused } from '../fs/refused-step.js';
import { tolerantFileSystem } from '../fs/tolerant-file-system.js';
import { watchedFileSystem } from '../fs/watched-file-system.js';
import { trimSpace } from '../model/ids.js';
import type { LockProvider, StoreDeps, StoreWarning } from './base/deps.js';
import { ulidMaker } from './base/new-id.js';
import { tellOfRefusal } from './base/refused-steps.js';
import { sayingOnce } from './base/standing-warnings.js';
import { resolveRoot } from './base/store-root.js';
import { fileLocks } from './holding/file-locks.js';
import { storeOwnership } from './holding/store-ownership.js';
import { SessionStore } from './session-store.js';

/** What a store can be opened with; everything has a default. */
export interface StoreOptions {
  /** The folder that holds the sessions; else {@link defaultRoot} of `env`. */
  readonly root?: string | undefined;
  /** Environment variables: `XDG_DATA_HOME`, `HOME`, `ZERO_CHECKPOINTS`, `ZERO_CHECKPOINT_MAX_BYTES`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly now?: (() => Date) | undefined;
  /** How long to wait for a busy session, milliseconds; 10,000 when left out. */
  readonly lockTimeoutMs?: number | undefined;
  /**
   * `auto` (the default) takes flock as Zero does, and where there is none only appends; `off` does everything without
   * it, for when nobody else writes to the store.
   */
  readonly flock?: 'auto' | 'off' | undefined;
  /** Ends the wait for a busy session, with its reason; what is under way goes on to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each change of a file or folder; what it throws keeps the change from being made. */
  readonly beforeChange?: (() => void) | undefined;
  /** Told of what stopped nothing and should be known. */
  readonly onWarning?: ((warning: StoreWarning) => void) | undefined;
  /** The home folder of this process; asked of the system when left out. */
  readonly home?: string | undefined;
  /** The user id of this process; with it, writing to another user's store is refused unless `asOwner`. */
  readonly uid?: number | undefined;
  /** Gives everything that is made to the owner of the store: for root, on another user's store. */
  readonly asOwner?: boolean | undefined;
  readonly fileSystem?: FileSystem | undefined;
  readonly locks?: LockProvider | undefined;
  readonly newId?: (() => string) | undefined;
}

const DEFAULT_LOCK_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 5 * 1024 * 1024;

/**
 * Opens a store. Changes no file: the root is made by the first session.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when there is neither a root nor a home to find it in.
 * @throws SystemError (`SYSTEM`) when the root is a file, or a link to nowhere.
 */
export function openStore(options: StoreOptions = {}): SessionStore {
  return new SessionStore(storeDeps(options));
}

/** What the store needs of the world, with every default filled in. */
export function storeDeps(options: StoreOptions): StoreDeps {
  const { env = {}, flock = 'auto', lockTimeoutMs: timeoutMs = DEFAULT_LOCK_TIMEOUT_MS, signal } = options;
  // biome-ignore lint/plugin: this is where the clock comes in; everything else is handed it.
  const now = options.now ?? (() => new Date());
  const wished = trimSpace(options.root ?? '') === '' ? defaultRoot(env, options.home) : (options.root as string);
  const warn = sayingOnce(options.onWarning ?? (() => {}));
  const onRefused = tellOfRefusal(warn);
  const fileSystem = fileSystemOf(options, onRefused);
  const root = resolveRoot(fileSystem, resolve(wished));
  const { fs, assertOwner, own } = storeOwnership(fileSystem, root, options);
  return {
    root,
    fs,
    assertOwner,
    now,
    newId: options.newId ?? ulidMaker(now),
    locks: options.locks ?? fileLocks({ root, timeoutMs, flock, warn, onRefused, own, signal }),
    warn,
    checkpoints: { enabled: checkpointsEnabled(env), maxBytes: maxCheckpointBytes(env) },
    homes: ownHomes(env),
    othersHomes: () => {
      const users = [fileSystem.stat(root)?.uid, formerUser(env)].filter((uid) => uid !== undefined);
      return homesOfPeople(fileSystem, users);
    },
    peerRegistries: peerRegistries(env),
  };
}

/** Where Zero registers open sessions: below the runtime folder of the user, and below the home without one. */
function peerRegistries(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  // Both are read: Zero may have been started where the variable was not set.
  const tops = [env.XDG_RUNTIME_DIR, trimSpace(env.HOME ?? '') === '' ? '' : `${env.HOME}/.cache`];
  return tops
    .map((top) => trimSpace(top ?? ''))
    .filter((top) => isAbsolute(top))
    .map((top) => join(top, 'zero', 'peers', 'registry'));
}

function fileSystemOf({ fileSystem, beforeChange }: StoreOptions, onRefused: OnRefused): FileSystem {
  const tolerant = tolerantFileSystem(fileSystem ?? nodeFileSystemWith(onRefused), onRefused);
  return beforeChange === undefined ? tolerant : watchedFileSystem(tolerant, beforeChange);
}

/**
 * Zero's store: `$XDG_DATA_HOME/zero/sessions`, else `$HOME/.local/share/zero/sessions`, cleaned; values are trimmed and
 * blank ones count as unset (FORMAT.md, 1).
 * @param home - What stands for a HOME that the variables do not give: the home folder of this process.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when there is none of these.
 */
export function defaultRoot(env: Readonly<Record<string, string | undefined>>, home = homeOfThisProcess()): string {
  const data = trimSpace(env.XDG_DATA_HOME ?? '');
  if (data !== '') return join(data, 'zero', 'sessions');
  const folder = trimSpace(env.HOME ?? '') || trimSpace(home);
  if (folder !== '') return join(folder, '.local', 'share', 'zero', 'sessions');
  throw new InvalidArgumentError('root', 'There is no store: neither a root nor HOME is given', 'Give a root.');
}

/** Whether checkpoints are captured: yes, unless `ZERO_CHECKPOINTS` is exactly `off`. */
export function checkpointsEnabled(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.ZERO_CHECKPOINTS !== 'off';
}

function maxCheckpointBytes(env: Readonly<Record<string, string | undefined>>): number {
  const text = env.ZERO_CHECKPOINT_MAX_BYTES ?? '';
  const bytes = /^\+?\d+$/.test(text) ? Number(text) : 0;
  // Beyond 64 bits Zero cannot read it, and takes its default as well.
  return bytes > 0 && bytes < 2 ** 63 ? bytes : DEFAULT_MAX_BYTES;
}
