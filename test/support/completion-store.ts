import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { aSession, type SessionBuilder } from './session-builder.js';
import { laySession } from './temp-store.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** What a shell would do something with, if it ever evaluated it: each makes a file `pwned`, or breaks a quote. */
export const HOSTILE_TEXTS = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned;',
  "'; touch pwned; '",
  '"; touch pwned; "',
  '(touch pwned)',
  '=(touch pwned)',
  '&& touch pwned',
  '| touch pwned',
  '> pwned',
  'two\nlines\ttouch pwned',
  `\${x:=$(touch pwned)}`,
  '100% %F{red}%{%1(x.y.z)',
  'a:b\\:c\\',
  "it's",
  '"',
  '*',
  '~',
  '-rf',
  '--force',
  ':files',
  'with space',
  'ünï‮codé 🦊',
] as const;

/** Ids of the sessions of the store that can be read, newest first. */
export const IDS = ['alpha', 'alpine', 'beta-1', 'latest', 'Zed_2'] as const;

/** A store that was made to break a shell, and a folder with the program by its name. */
export interface CompletionStore {
  readonly root: string;
  /** Where the shell runs; empty before it does. */
  readonly cwd: string;
  /** Where the program is found; the shell's own files may go here. */
  readonly bin: string;
  /** A folder with the completion scripts, as they are committed. */
  readonly scripts: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names everything in the present folder and in the store, but locks. */
  files(): readonly string[];
}

/** Lays the store in a folder that is gone when the test is over. The program is the built one. */
export function completionStore(): CompletionStore {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-completion-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [root, cwd, bin] = [join(top, 'sessions'), join(top, 'cwd'), join(top, 'bin')];
  for (const folder of [root, cwd, bin]) mkdirSync(folder);
  symlinkSync(join(PROJECT, 'bin/zero-sessions.js'), join(bin, 'zero-sessions'));
  for (const session of [...readableSessions(), ...hostileSessions()]) laySession(root, session);
  // Where the id of the metadata is another than the folder's name.
  mkdirSync(join(root, 'evil'));
  writeFileSync(join(root, 'evil/metadata.json'), aMetadata('$(touch pwned)'));
  return {
    root,
    cwd,
    bin,
    scripts: join(PROJECT, 'completions'),
    env: {
      PATH: [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: top,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ZERO_SESSIONS_ROOT: root,
    },
    files: () => [...readdirSync(cwd), ...readdirSync(root, { recursive: true, encoding: 'utf8' })].sort(),
  };
}

function readableSessions(): readonly SessionBuilder[] {
  return IDS.map((id, at) => {
    const session = aSession(id).withMetadata({
      title: id === 'alpha' ? 'Fix the parser: part 2' : HOSTILE_TEXTS[at],
      updatedAt: `2026-07-09T${String(20 - at)}:00:00Z`,
      tag: at === 0 ? 'good-tag' : HOSTILE_TEXTS[at],
      modelId: at === 0 ? 'maker/model-1:free' : HOSTILE_TEXTS[at],
      sessionKind: id === 'alpine' ? 'fork' : undefined,
      ...(id === 'alpine' ? { parentSessionId: 'alpha' } : {}),
    });
    if (id !== 'alpha') return session;
    return HOSTILE_TEXTS.reduce(
      (built, text) => built.withEvent({ payload: JSON.stringify({ role: 'user', content: text }) }),
      session.withEvent({ type: 'session_checkpoint', payload: '{"tool":"write_file","files":[]}' }),
    );
  });
}

/** Sessions whose folders have the names that a shell must not see; the titles are older than all others. */
function hostileSessions(): readonly SessionBuilder[] {
  return HOSTILE_TEXTS.map((name) => aSession(name).withMetadata({ title: name, updatedAt: '2025-01-01T00:00:00Z' }));
}

function aMetadata(sessionId: string): string {
  const time = '2025-01-01T00:00:00Z';
  return JSON.stringify({ sessionId, createdAt: time, updatedAt: time, eventCount: 0 });
}
