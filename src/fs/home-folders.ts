import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { errnoOf } from '../errors.js';
import { isMissing, readWholeFile } from './durable-file.js';
import type { FileSystem } from './file-system.js';

type Environment = Readonly<Record<string, string | undefined>>;

const ACCOUNTS = '/etc/passwd';
/** Where people's accounts begin; below are root and what the system runs its services under. */
const FIRST_PERSON = 1000;
/** What an account has for a shell that nobody logs in to. */
const NO_SHELLS: ReadonlySet<string | undefined> = new Set(['nologin', 'false']);

/** The homes of whoever runs this process: what the environment says, and what the system knows whatever that says. */
export function ownHomes(env: Environment): readonly string[] {
  const known = [env.HOME, env.USERPROFILE, homeOfThisProcess(), homeOfThisUser()];
  const told = known.filter((home) => home !== undefined && home.trim() !== '');
  return [...new Set(told.map((home) => resolve(home as string)))];
}

/** The home of this process: its own HOME, else the one of its user; empty where there is none. */
export function homeOfThisProcess(): string {
  try {
    return homedir() || (homeOfThisUser() ?? '');
  } catch {
    return ''; // neither a HOME nor an account
  }
}

/** The home that the system has for the effective user, or undefined where it knows none. */
function homeOfThisUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined; // a user id without an account
  }
}

/** The homes of root, of every account that somebody can log in to, and of `users`; not those of services. */
export function homesOfPeople(fs: FileSystem, users: readonly number[]): readonly string[] {
  const lines = new TextDecoder().decode(readAccountFile(fs)).split('\n');
  const homes = lines.flatMap((line) => {
    const [, , digits = '', , , home = '', shell = ''] = line.split(':');
    if (!/^\d+$/.test(digits) || !home.startsWith('/')) return [];
    const uid = Number(digits);
    const isPerson = (uid === 0 || uid >= FIRST_PERSON) && !NO_SHELLS.has(shell.split('/').at(-1));
    return isPerson || users.includes(uid) ? [home] : [];
  });
  return [...new Set(homes)];
}

export function formerUser(env: Environment): number | undefined {
  const uid = env.SUDO_UID ?? env.PKEXEC_UID ?? '';
  return /^\d{1,10}$/.test(uid) ? Number(uid) : undefined;
}

// Some systems keep the file elsewhere, behind a link; where there is none nothing is known of other people.
function readAccountFile(fs: FileSystem): Uint8Array | undefined {
  try {
    return readWholeFile(fs, fs.realpath(ACCOUNTS));
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}
