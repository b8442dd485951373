/** Who holds a lock, as far as can be told. */
export interface LockHolder {
  readonly pid?: number;
  /** For people: `process 4711 (zero)`. */
  readonly name: string;
}

/** A lock stayed with somebody else until the deadline. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
  readonly path: string;
  readonly holder: LockHolder | undefined;
  /** Milliseconds that were allowed for the wait. */
  readonly timeoutMs: number;
  constructor(path: string, holder: LockHolder | undefined, timeoutMs: number, options?: ErrorOptions) {
    super(`${path} is held by ${holder?.name ?? 'another process'}; gave up after ${timeoutMs} ms`, options);
    this.path = path;
    this.holder = holder;
    this.timeoutMs = timeoutMs;
  }
}
