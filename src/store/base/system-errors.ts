import { errnoOf, PathRefusedError, SystemError, ZeroSessionsError } from '../../errors.js';
import { describeKind, UnexpectedKindError } from '../../fs/file-system.js';

/** Gives an error of the system as one of ours, with errno and path; every other error as it is. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof ZeroSessionsError) return error;
  if (error instanceof UnexpectedKindError) {
    return new PathRefusedError(error.path, describeKind(error.found), { cause: error });
  }
  const errno = errnoOf(error);
  if (errno === undefined || !(error instanceof Error)) return error;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  return new SystemError(`The system refused: ${error.message}`, errno, path, { cause: error });
}

/** Runs work; what the system refuses becomes an error of ours. */
export async function withStoreErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** As {@link withStoreErrors}, for work that gives its result at once. */
export function orStoreError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** As {@link withStoreErrors}, for what is read while it is asked for. */
export function* eachOrStoreError<T>(items: Iterable<T>): Generator<T> {
  try {
    yield* items;
  } catch (error) {
    throw asStoreError(error);
  }
}
