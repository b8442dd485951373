import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { StoredEvent, StoreOptions } from '../../src/index.js';
import { aMessage } from './event-builder.js';
import { type TempStore, tempStore } from './temp-store.js';

/** What a tool or a user makes of a path; null removes it, folders that it leaves empty stay. */
export type Content = string | Uint8Array | { readonly link: string } | { readonly mode: number } | null;

/** A store with one session `s`, and beside it the folder that the session works in. */
export interface TempWorkspace extends TempStore {
  readonly workspace: string;
  /** A folder that nothing may touch. */
  readonly outside: string;
  /** Gives the path of something in the workspace. */
  at(path: string): string;
  /** Changes files as a user does; their times are those of the clock. */
  put(files: Readonly<Record<string, Content>>): void;
  /** Changes files as a tool of the session does: call, checkpoint, change, result, a second after each. */
  tool(files: Readonly<Record<string, Content>>, options?: ToolOptions): Promise<StoredEvent>;
  say(text?: string): Promise<StoredEvent>;
  /** Gives everything in the workspace: kinds, modes, contents, targets. */
  files(): readonly string[];
  outsideFiles(): readonly string[];
  log(): string;
  /** Gives everything that a refused operation must leave as it is: files, log, metadata, blobs, kept records. */
  everything(): unknown;
  sequences(): readonly number[];
}

export interface ToolOptions {
  readonly name?: string;
  readonly paths?: readonly string[];
  /** Whether the tool call holds the content that is written. */
  readonly tells?: boolean;
}

/** Makes a session whose recorded cwd is a folder of its own. */
export async function tempWorkspace(options: StoreOptions & { readonly cwd?: string } = {}): Promise<TempWorkspace> {
  const { cwd, ...storeOptions } = options;
  const temp = tempStore([], storeOptions);
  const top = dirname(temp.root);
  const workspace = join(top, 'workspace');
  const outside = join(top, 'outside');
  mkdirSync(workspace, { mode: 0o755 });
  mkdirSync(outside);
  await temp.store.create({ sessionId: 's', cwd: cwd ?? workspace });
  let calls = 0;

  function put(files: Readonly<Record<string, Content>>): void {
    for (const [path, content] of Object.entries(files)) {
      putAt(join(workspace, path), content);
      const now = temp.clock.now();
      if (content !== null) lutimesSync(join(workspace, path), now, now);
    }
  }

  async function tool(files: Readonly<Record<string, Content>>, toolOptions: ToolOptions = {}): Promise<StoredEvent> {
    const { name = 'write_file', paths = Object.keys(files), tells = false } = toolOptions;
    calls += 1;
    const callId = `call_${calls}`;
    const [path, content] = Object.entries(files)[0] ?? [];
    const told = tells ? { path, content } : { path };
    await temp.store.appendEvent('s', {
      type: 'tool_call',
      payload: { arguments: JSON.stringify(told), id: callId, name },
    });
    temp.clock.pass(1000);
    await temp.store.captureToolCheckpoint('s', workspace, name, paths);
    temp.clock.pass(1000);
    put(files);
    const result = await temp.store.appendEvent('s', {
      type: 'tool_result',
      payload: { name, output: 'done', status: 'ok', toolCallId: callId },
    });
    temp.clock.pass(1000);
    return result;
  }

  const log = (): string => temp.text('events.jsonl');
  const files = (): readonly string[] => contents(workspace);
  return {
    ...temp,
    workspace,
    outside,
    put,
    tool,
    files,
    log,
    at: (path) => join(workspace, path),
    say: async (text) => {
      temp.clock.pass(1000);
      return temp.store.appendEvent('s', aMessage(text));
    },
    outsideFiles: () => contents(outside),
    everything: () => ({
      files: files(),
      outside: contents(outside),
      log: log(),
      metadata: temp.text('metadata.json'),
      // What no event names, and second names for when it is kept, may stay from what was refused.
      blobs: contents(temp.path('checkpoints')).filter((line) => log().includes(hashIn(line))),
      // The folder that waits for records is nobody's.
      kept: contents(temp.path('.zs/kept')),
    }),
    sequences: () =>
      log()
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { sequence: number }).sequence])),
  };
}

function hashIn(line: string): string {
  return /[0-9a-f]{64}/.exec(line)?.[0] ?? 'no hash';
}

/** Gives all that is in a folder as sorted lines: kind, mode, name, and content or target. */
export function contents(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return namesBelow(folder, '')
    .sort()
    .map((name) => `${JSON.stringify(name)} ${describeEntry(join(folder, name))}`);
}

// Node's own way to read a folder with all in it follows links.
function namesBelow(folder: string, prefix: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    return entry.isDirectory() ? [name, ...namesBelow(join(folder, entry.name), `${name}/`)] : [name];
  });
}

function describeEntry(path: string): string {
  const stat = lstatSync(path);
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) return `link ${JSON.stringify(readlinkSync(path))}`;
  if (stat.isDirectory()) return `folder ${mode}`;
  return stat.isFile() ? `file ${mode} ${readFileSync(path).toString('base64')}` : `special ${mode}`;
}

function putAt(path: string, content: Content): void {
  const special = content !== null && typeof content === 'object' && !(content instanceof Uint8Array);
  if (special && 'mode' in content) {
    chmodSync(path, content.mode);
    return;
  }
  // A link to a file is written through, one that leads nowhere is replaced.
  if (content === null || special || !existsSync(path)) rmSync(path, { force: true });
  if (content === null) return;
  mkdirSync(dirname(path), { recursive: true });
  if (special) symlinkSync(content.link, path);
  else writeFileSync(path, content);
}
