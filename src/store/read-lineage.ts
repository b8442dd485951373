import type { SessionMetadata } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';

/** A session with the sessions that came from it. */
export interface TreeNode {
  readonly session: SessionMetadata;
  readonly children: readonly TreeNode[];
}

export function readLineage(_deps: StoreDeps, _sessionId: string): readonly SessionMetadata[] {
  throw new Error('stub');
}
export function readChildren(_deps: StoreDeps, _parentId: string): readonly SessionMetadata[] {
  throw new Error('stub');
}
export function readTree(_deps: StoreDeps, _rootId: string): TreeNode {
  throw new Error('stub');
}
