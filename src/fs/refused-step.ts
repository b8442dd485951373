import { errnoOf } from '../errors.js';

/** Steps that some mounts refuse (WSL, SMB, FUSE, Android), and that the work can do without. */
export type OptionalStep = 'chmod' | 'utimes' | 'link' | 'fsync of a folder';

/** Told of a step that was refused, with the errno. */
export type OnRefused = (step: OptionalStep, errno: string) => void;

// What says "not here". Everything else says that something went wrong: EIO, ENOSPC, EROFS, EDQUOT.
const REFUSALS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);

/** The errno when an error says that the file system does without this step; undefined for every other error. */
export function refusalOf(step: OptionalStep, error: unknown): string | undefined {
  const errno = errnoOf(error);
  if (errno === undefined) return undefined;
  const isRefusal = REFUSALS.has(errno) || (errno === 'EACCES' && (step === 'chmod' || step === 'utimes'));
  return isRefusal ? errno : undefined;
}

/** Sets a mode where the file system has modes: for what is not worth a word. */
export async function settleMode(change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (refusalOf('chmod', error) === undefined) throw error;
  }
}

export function tolerate(step: OptionalStep, onRefused: OnRefused, work: () => void): void {
  try {
    work();
  } catch (error) {
    const errno = refusalOf(step, error);
    if (errno === undefined) throw error;
    onRefused(step, errno);
  }
}
