import type { UncoveredWork } from './rewind.js';
import type { LogWork } from './session-work.js';

/**
 * Lists what the events after a target may have changed without a checkpoint that restores it, oldest first.
 * @param firstCheckpointOf - The sequence of the first checkpoint after the target that names a path.
 * @param children - Sub-agents that changed files which stay as they are.
 */
export function uncoveredWork(
  { changedFiles, shellCalls }: LogWork,
  target: number,
  firstCheckpointOf: (path: string) => number | undefined,
  children: readonly { readonly sessionId: string; readonly sequence: number }[],
): readonly UncoveredWork[] {
  const files = new Map<string, UncoveredWork>();
  for (const { sequence, name, path = name } of changedFiles) {
    // A checkpoint that came later found what the call had made of the file.
    const isCovered = (firstCheckpointOf(path) ?? Number.POSITIVE_INFINITY) < sequence;
    if (sequence > target && !isCovered && !files.has(path)) files.set(path, { kind: 'file', sequence, path: name });
  }
  const shells = shellCalls.filter((sequence) => sequence > target);
  const work: readonly UncoveredWork[] = [
    ...files.values(),
    ...shells.map((sequence): UncoveredWork => ({ kind: 'shell', sequence })),
    ...children.map(({ sequence, sessionId }): UncoveredWork => ({ kind: 'child', sequence, sessionId })),
  ];
  return work.toSorted((a, b) => a.sequence - b.sequence);
}
