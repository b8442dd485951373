import { appendFileSync, lstatSync } from 'node:fs';
import { identityOf } from '../../src/fs/file-system.js';
import type { Content, TempWorkspace } from './temp-workspace.js';

/** Makes a log end with an intent as FORMAT.md, 6 describes it; everything that a test is not about has a default. */
export interface IntentParts {
  readonly id?: string;
  readonly session?: string;
  readonly workspace?: string;
  readonly files?: readonly object[];
  readonly target?: number;
  /** Whether it says that it was appended to this very log, as one of ours does; it does unless told otherwise. */
  readonly madeHere?: boolean;
  readonly undoes?: string;
}

export const INTENT_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** Appends an intent to the log, uncounted, and gives its sequence. */
export function appendIntent(temp: TempWorkspace, parts: IntentParts = {}): number {
  const { id = INTENT_ID, session = 's', files = [], target = 1, workspace, madeHere = true, undoes } = parts;
  const sequence = (temp.sequences().at(-1) ?? 0) + 1;
  const rewind = {
    id,
    session,
    target,
    ...(workspace === undefined ? {} : { workspace }),
    ...(undoes === undefined ? {} : { undoes }),
    ...(madeHere ? { log: logIdentity(temp.path('events.jsonl')) } : {}),
  };
  const payload = { tool: 'zero-sessions/rewind-intent', files, rewind };
  appendLine(temp, sequence, 'session_checkpoint', payload);
  return sequence;
}

/** Gives what tells a log from every copy of it, as an intent carries it. */
export function logIdentity(path: string): { dev: string; ino: string; birth: string } {
  const { dev, ino, birthNs } = identityOf(lstatSync(path, { bigint: true }));
  return { dev: `${dev}`, ino: `${ino}`, birth: `${birthNs}` };
}

/** Appends a line as another program does. */
export function appendLine(temp: TempWorkspace, sequence: number, type: string, payload: unknown): void {
  const event = { id: `s:${sequence}`, sessionId: 's', sequence, type, createdAt: '2026-07-09T12:30:00Z', payload };
  appendFileSync(temp.path('events.jsonl'), `${JSON.stringify(event)}\n`);
}

/** Gives the name under which a content is stored, stored. */
export async function storedContent(temp: TempWorkspace, content: string): Promise<string> {
  const files: Record<string, Content> = { 'stored.tmp': content };
  temp.put(files);
  const { payload } = await temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['stored.tmp']);
  temp.put({ 'stored.tmp': null });
  return payload?.files[0]?.blob ?? '';
}
