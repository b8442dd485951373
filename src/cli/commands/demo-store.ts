import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeDeps } from '../../store/open-store.js';
import { SessionStore } from '../../store/session-store.js';
import { packageFolder } from '../version.js';

/** A store to look at, and a workspace that one of its sessions worked in. */
export interface DemoStore {
  /** The folder that holds both, in the system's temporary folder. */
  readonly folder: string;
  readonly root: string;
  readonly workspace: string;
  /** The session that has files in the workspace. */
  readonly sessionId: string;
  /** Whether sessions written by Zero itself are among them: those of a clone of the project. */
  readonly hasZeroSessions: boolean;
}

const GREETING = 'demo-greeting';

const BEFORE = `echo "Hello, world!"
`;

const AFTER = `name="\${1:-world}"
echo "Hello, $name!"
`;

/**
 * Makes a store with a handful of sessions, through the library, and a workspace beside it. Nothing else is touched.
 *
 * @param now - When the newest of them was active.
 */
export async function makeDemoStore(now: Date): Promise<DemoStore> {
  const folder = mkdtempSync(join(tmpdir(), 'zero-sessions-demo-'));
  const root = join(folder, 'zero', 'sessions'); // where Zero would look for it, with XDG_DATA_HOME
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  const hasZeroSessions = copyZeroSessions(root);
  let time = now.getTime() - 20 * 60_000;
  const store = new SessionStore(storeDeps({ root, now: () => new Date(time) }));
  const pass: Pass = (seconds) => {
    time += seconds * 1000;
  };
  await greetByName(store, workspace, pass);
  await goAnotherWay(store, pass);
  return { folder, root, workspace, sessionId: GREETING, hasZeroSessions };
}

// A clone has sessions that Zero wrote; the package leaves them out.
function copyZeroSessions(root: string): boolean {
  const samples = join(packageFolder(), 'test/samples/zero-golden/sessions');
  if (!existsSync(samples)) return false;
  cpSync(samples, root, { recursive: true });
  return true;
}

/** A short session: a wish, a look at a file, a change of it with a checkpoint before, an answer. */
async function greetByName(store: SessionStore, workspace: string, pass: Pass): Promise<void> {
  const file = join(workspace, 'greet.sh');
  writeFileSync(file, BEFORE);
  pass(30);
  await store.create({
    sessionId: GREETING,
    title: 'Greet people by name',
    cwd: workspace,
    modelId: 'demo-model',
    provider: 'demo',
    tag: 'demo',
  });
  pass(60);
  await store.appendEvents(GREETING, [
    message('user', 'greet.sh greets the whole world. Can it greet somebody by name?'),
    call('call_1', 'read_file', { path: 'greet.sh' }),
    result('call_1', 'read_file', BEFORE),
    call('call_2', 'write_file', { path: 'greet.sh', content: AFTER }),
  ]);
  pass(90);
  await store.captureToolCheckpoint(GREETING, workspace, 'write_file', ['greet.sh']);
  writeFileSync(file, AFTER);
  pass(60);
  await store.appendEvents(GREETING, [
    result('call_2', 'write_file', `wrote ${AFTER.length} bytes`, ['greet.sh']),
    { type: 'provider_usage', payload: { promptTokens: 1480, completionTokens: 96, totalTokens: 1576 } },
    message('assistant', 'Yes: `sh greet.sh Ada` now says "Hello, Ada!". Without a name it still greets the world.'),
  ]);
}

/** From the same conversation, another way to go on and a question aside. */
async function goAnotherWay(store: SessionStore, pass: Pass): Promise<void> {
  pass(60);
  const fork = await store.fork(GREETING, { sessionId: 'demo-greeting-loud', title: 'Greet people loudly' });
  pass(90);
  await store.appendEvents(fork.sessionId, [message('user', 'Now in capital letters, please.')]);
  pass(60);
  await store.createChild(GREETING, {
    sessionId: 'demo-greeting-tests',
    agentName: 'tester',
    prompt: 'Find out how greet.sh is tested.',
  });
}

/** Lets so many seconds go by: a conversation takes time. */
type Pass = (seconds: number) => void;

interface DemoEvent {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

function message(role: string, content: string): DemoEvent {
  return { type: 'message', payload: { content, role } };
}

function call(id: string, name: string, values: Readonly<Record<string, unknown>>): DemoEvent {
  return { type: 'tool_call', payload: { arguments: JSON.stringify(values), id, name } };
}

function result(toolCallId: string, name: string, output: string, changedFiles: readonly string[] = []): DemoEvent {
  const changed = changedFiles.length > 0 ? { changedFiles } : {};
  return { type: 'tool_result', payload: { ...changed, name, output, status: 'ok', toolCallId } };
}
