export interface LockHolder {
  readonly pid?: number;
  /** For people: `process 4711 (zero)`. */
  readonly name: string;
}

export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
  readonly path: string;
  readonly holder: LockHolder | undefined;
  readonly timeoutMs: number;
  constructor(path: string, holder: LockHolder | undefined, timeoutMs: number, options?: ErrorOptions) {
    super(`${path} is held by ${holder?.name ?? 'another process'}; gave up after ${timeoutMs} ms`, options);
    this.path = path;
    this.holder = holder;
    this.timeoutMs = timeoutMs;
  }
}

/** Until the deadline it could not be found out whether anybody holds a lock. */
export class LockUnknownError extends Error {
  override readonly name = 'LockUnknownError';
  readonly path: string;
  /** What is known: what became of the last try. */
  readonly reason: string;
  constructor(path: string, reason: string, timeoutMs: number) {
    super(`${path} could not be locked within ${timeoutMs} ms: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}
