import { LockUnavailableError } from '../../errors.js';
import { decodeIntent, type RewindIntent } from '../../model/rewind-record.js';
import { foldersAbove } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { planRollBack } from '../../plan/rewind/roll-back.js';
import { unavailableReason } from '../parts/blob-store.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession } from '../parts/locked-session.js';
import { FileChanges, syncFolders } from '../workspace/change-files.js';
import type { LocatedPath, Workspace } from '../workspace/workspace.js';

/** What became of an unfinished rewind. */
export type RollBackResult =
  /** Every file is as it was before, and the intent is off the log. */
  | { readonly kind: 'rolledBack'; readonly files: number }
  /** Nothing was forced; the intent stays. */
  | { readonly kind: 'left'; readonly reason: string; readonly paths: readonly string[] };

/** What is to be done about each file, in the order of the intent. */
interface FilesBack {
  readonly changes: readonly FileChange[];
  /** Files in neither of the two states that the intent holds. */
  readonly edited: readonly FileChange[];
  /** Files that cannot be restored. */
  readonly impossible: readonly FileChange[];
}

/**
 * Rolls back a rewind that did not reach its commit: files first, then the kept record, then the intent. All files are
 * looked at before one is changed (RELIABILITY.md, 3.3).
 * @param changed - The paths that the rewind got to, where that is known: what it did not touch is none of its
 * business.
 */
export function rollBack(back: RollBack, changed?: ReadonlySet<string>): RollBackResult {
  const { session, intent } = back;
  const { last } = session.log.tail();
  if (last === undefined || decodeIntent(last, session.id)?.id !== intent.id) {
    return { kind: 'left', reason: 'its commit may have been reached', paths: [] };
  }
  const mayNot = whyNotRewrite(session);
  if (mayNot !== undefined) return { kind: 'left', reason: mayNot, paths: [] };
  const staged = back.unstage();
  if (staged.length > 0)
    return { kind: 'left', reason: 'what lies beside these files cannot be removed', paths: staged };
  const { changes, edited, impossible } = back.plan(changed);
  if (edited.length > 0) {
    return { kind: 'left', reason: 'these files were changed since', paths: edited.map(({ path }) => path) };
  }
  if (impossible.length > 0) {
    const paths = impossible.map(({ path, reason }) => `${path} (${reason})`);
    return { kind: 'left', reason: 'these files cannot be put back', paths };
  }
  back.apply(changes);
  takeIntentOff(session, intent);
  return { kind: 'rolledBack', files: changes.length };
}

/** The roll-back of a rewind that announced itself and did not reach its commit. */
export class RollBack {
  readonly session: LockedSession;
  readonly intent: RewindIntent;
  readonly #workspace: Workspace;
  readonly #files: FileChanges;
  readonly #paths: ReadonlySet<string>;

  constructor(session: LockedSession, intent: RewindIntent, workspace: Workspace) {
    this.session = session;
    this.intent = intent;
    this.#workspace = workspace;
    const paths = intent.files.map(({ path }) => path);
    this.#paths = new Set(paths);
    this.#files = new FileChanges(session, workspace, { id: intent.id, paths });
  }

  /** Looks which files have to be restored, and whether they can be. */
  plan(changed?: ReadonlySet<string>): FilesBack {
    const { session, intent } = this;
    const known = new Set([...this.#paths].flatMap((path) => [path, ...foldersAbove(path)]));
    const files = intent.files.filter(({ path }) => changed?.has(path) ?? true);
    const planned = planRollBack(
      files.map((file) => {
        const located = this.#locate(file.path);
        const { resolved } = located;
        const present = this.#workspace.presentAmong(located, known);
        const obstacle = (): string | undefined =>
          unavailableReason(session.blobs, file.before) ?? this.#workspace.whyUnwritable(resolved, present);
        return { file, resolved, present, obstacle };
      }),
      this.#paths,
    );
    return {
      changes: planned.filter(({ action }) => action === 'restore' || action === 'delete'),
      edited: planned.filter(({ action }) => action === 'conflict'),
      impossible: planned.filter(({ action }) => action === 'impossible'),
    };
  }

  /**
   * Removes what may be staged, and returns the paths beside which something is left. One that leads elsewhere is
   * skipped.
   */
  unstage(): readonly string[] {
    return this.#files.unstage(this.#inside()).map(({ path }) => path);
  }

  /** Puts files back, removes the folders that were made for files which are not to be there, and syncs it all. */
  apply(changes: readonly FileChange[]): void {
    this.#files.make(changes);
    const inside = this.#inside();
    for (const { before, resolved } of inside) {
      if (before.kind === 'absent') this.#files.removeEmptyFolders(resolved, before.newDirs);
    }
    // Before the intent goes: what is as it was may be so through a recovery that was killed before it synced, and once
    // the intent is gone nobody looks again.
    syncFolders(
      this.#workspace,
      inside.flatMap(({ resolved }) => [...foldersAbove(resolved), resolved]),
    );
  }

  #inside(): readonly (RewindIntent['files'][number] & { readonly resolved: string })[] {
    return this.intent.files.flatMap((file) => {
      const { where, resolved } = this.#locate(file.path);
      return where.kind === 'inside' ? [{ ...file, resolved }] : [];
    });
  }

  #locate(path: string): LocatedPath {
    return this.#workspace.locate(path, (at) => this.#paths.has(at));
  }
}

function whyNotRewrite(session: LockedSession): string | undefined {
  try {
    session.assertMayRewrite();
    return undefined;
  } catch (error) {
    if (error instanceof LockUnavailableError) return error.message;
    throw error;
  }
}

// The kept record shares the log's bytes until the commit, so it goes first: cutting the log would cut it as well.
function takeIntentOff(session: LockedSession, intent: RewindIntent): void {
  new KeptRecords(session.deps, session.paths).discard(intent.id);
  const tail = session.log.tail();
  session.assertHeld();
  // What somebody's interrupted append left behind the intent is kept.
  if (tail.tornFrom !== undefined) session.log.seal(tail);
  session.log.cut(tail.lastStart);
}
