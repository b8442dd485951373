import { SessionExistsError, ZeroSessionsError } from '../../errors.js';
import { syncFolder } from '../../fs/durable-file.js';
import { sameBytes } from '../../model/bytes.js';
import { eventName, parseNewSessionId, parseSessionId, type SessionId, trimSpace } from '../../model/ids.js';
import { encodeJson, type RawJson } from '../../model/json.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { StoreDeps } from '../base/deps.js';
import { EventLog } from '../parts/event-log.js';
import type { LockedSession } from '../parts/locked-session.js';
import { pathsOf, readMetadata } from '../parts/metadata-file.js';
import { requireSession, sessionExists } from '../parts/session-folder.js';
import { withSession } from '../recovery/session-lock.js';
import { checkedDepth, publishWithEvent } from './create-session.js';

const LINK_TYPE = 'session_child';

/** What a child session can be made with. */
export interface ChildInput {
  readonly sessionId?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  readonly depth?: number | undefined;
  readonly agentName?: string | undefined;
  readonly taskId?: string | undefined;
  readonly prompt?: string | undefined;
}

/**
 * Makes a session of kind `child`, and links it in its parent: the same event stands in both. The child appears first,
 * whole and with its link; when the parent could not be linked, the same call again does that and nothing else.
 */
export async function createChild(deps: StoreDeps, parentId: string, input: ChildInput): Promise<SessionMetadata> {
  requireSession(deps, parseSessionId(parentId)); // who has no parent is told so first, as with a fork
  const depth = checkedDepth(input.depth);
  const wished = trimSpace(input.sessionId ?? '');
  const id = parseNewSessionId(wished === '' ? deps.newId() : wished);
  return withSession(deps, parentId, (parent) => {
    parent.document();
    const unlinked = findUnlinked(parent, id);
    if (unlinked !== undefined) {
      // Who made it may have been killed before its name was synced, and no link may outlive what it leads to.
      syncFolder(deps.fs, deps.root);
      parent.append([{ type: LINK_TYPE, payload: unlinked.link }]);
      return unlinked.metadata;
    }
    return publishLinked(parent, id, { ...trimmed(input), depth });
  });
}

const TEXTS = ['title', 'cwd', 'modelId', 'provider', 'tag', 'agentName', 'taskId', 'prompt'] as const;

type TrimmedInput = Readonly<Record<(typeof TEXTS)[number], string>> & { readonly depth: number };

function trimmed(input: ChildInput): Omit<TrimmedInput, 'depth'> {
  return Object.fromEntries(TEXTS.map((name) => [name, trimSpace(input[name] ?? '')])) as Omit<TrimmedInput, 'depth'>;
}

function publishLinked(parent: LockedSession, id: SessionId, input: TrimmedInput): SessionMetadata {
  // What could keep the parent from being linked is looked at before there is a child.
  const tail = parent.sealedTail();
  parent.nextSequence(tail);
  const { last } = tail;
  const { metadata } = parent;
  const family = {
    parentSessionId: parent.id,
    rootSessionId: metadata.rootSessionId ?? parent.id,
    spawnedFromEventId: last === undefined ? '' : eventName(last, parent.id),
    spawnedFromSequence: last?.sequence ?? 0,
  };
  const { prompt, ...own } = input;
  const { agentName, taskId, tag, depth } = own;
  const payload = encodeJson({ ...family, childSessionId: id, agentName, taskId, tag, depth, prompt });
  const createdAt = parent.stamp();
  const start = {
    ...own,
    ...family,
    title: childTitle(metadata, input),
    cwd: input.cwd || (metadata.cwd ?? ''),
    modelId: input.modelId || (metadata.modelId ?? ''),
    provider: input.provider || (metadata.provider ?? ''),
    sessionId: id,
    sessionKind: 'child',
    createdAt,
    updatedAt: createdAt,
  };
  const link = { type: LINK_TYPE, payload };
  const child = publishWithEvent(parent.deps, start, { ...link, assertHeld: () => parent.assertHeld() });
  parent.append([link]);
  return child;
}

function childTitle(parent: SessionMetadata, { title, agentName }: TrimmedInput): string {
  if (title !== '') return title;
  if (agentName !== '') return `${agentName} child session`;
  return parent.title === undefined ? 'Zero child session' : `${parent.title} (child)`;
}

/**
 * Finds a child of this parent that was published and never linked: what a crash between the two leaves.
 * @throws SessionExistsError (`SESSION_EXISTS`) when the id is that of any other session.
 */
function findUnlinked(parent: LockedSession, id: SessionId): Unlinked | undefined {
  if (!sessionExists(parent.deps, id)) return undefined;
  const unlinked = readChildOf(parent, id);
  if (unlinked === undefined || mayHaveLinked(parent, unlinked)) throw new SessionExistsError(id);
  return unlinked;
}

interface Unlinked {
  readonly metadata: SessionMetadata;
  readonly link: RawJson;
}

function readChildOf({ deps, id: parentId }: LockedSession, id: SessionId): Unlinked | undefined {
  try {
    const metadata = readMetadata(deps, id, pathsOf(deps, id))?.metadata;
    if (metadata?.sessionKind !== 'child' || metadata.parentSessionId !== parentId) return undefined;
    for (const { type, payload } of new EventLog(deps, id, pathsOf(deps, id)).events()) {
      return type === LINK_TYPE && payload !== undefined ? { metadata, link: payload } : undefined;
    }
    return undefined;
  } catch (error) {
    // A damaged session holds its id like any other.
    if (error instanceof ZeroSessionsError) return undefined;
    throw error;
  }
}

// A parent that was rewound after the child was made may have had the link, and dropped it on purpose.
function mayHaveLinked(parent: LockedSession, { metadata, link }: Unlinked): boolean {
  const spawn = metadata.spawnedFromSequence ?? 0;
  for (const { type, sequence, payload } of parent.log.events()) {
    if (type === 'session_rewind' && sequence > spawn) return true;
    if (type === LINK_TYPE && payload !== undefined && sameBytes(payload, link)) return true;
  }
  return false;
}
