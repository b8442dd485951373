import { aLine, type LineParts } from './event-builder.js';

/** The files of a session as a test wants them on disk. */
export interface SessionFiles {
  readonly id: string;
  /** Undefined: there is no such file. */
  readonly metadata: Uint8Array | undefined;
  readonly events: Uint8Array | undefined;
}

/** Gives a session without events; everything that a test is not about has a default. */
export function aSession(id = 's'): SessionBuilder {
  return new SessionBuilder({ id, lines: [], tail: Buffer.alloc(0), metadata: {}, hasMetadata: true, hasLog: true });
}

interface Parts {
  readonly id: string;
  readonly lines: readonly string[];
  readonly tail: Uint8Array;
  /** An object changes members, bytes are the file. */
  readonly metadata: Readonly<Record<string, unknown>> | Uint8Array;
  readonly hasMetadata: boolean;
  readonly hasLog: boolean;
}

/** A session in the making; each step gives a new one. */
export class SessionBuilder {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  /** Adds so many messages, numbered on from what is there. */
  withMessages(count: number): SessionBuilder {
    const first = this.#parts.lines.length + 1;
    const lines = Array.from({ length: count }, (_, at) => aLine({ sessionId: this.id, sequence: first + at }));
    return this.#with({ lines: [...this.#parts.lines, ...lines] });
  }

  /** Adds one event. */
  withEvent(parts: LineParts): SessionBuilder {
    return this.withLine(aLine({ sessionId: this.id, sequence: this.#parts.lines.length + 1, ...parts }));
  }

  /** Adds a line as it stands. */
  withLine(line: string): SessionBuilder {
    return this.#with({ lines: [...this.#parts.lines, line] });
  }

  /** Ends the log with bytes that no newline follows. */
  withTail(tail: string | Uint8Array): SessionBuilder {
    return this.#with({ tail: typeof tail === 'string' ? Buffer.from(tail) : tail });
  }

  /** Changes members of the metadata, or puts unknown ones in. */
  withMetadata(changes: Readonly<Record<string, unknown>>): SessionBuilder {
    return this.#with({ metadata: { ...this.#parts.metadata, ...changes } });
  }

  /** As {@link withMetadata}, for counts that lag behind the log. */
  withStaleMetadata(changes: { readonly eventCount: number; readonly lastEventType?: string }): SessionBuilder {
    return this.withMetadata(changes);
  }

  /** Gives the session this text for its metadata.json. */
  withMetadataText(text: string): SessionBuilder {
    return this.#with({ metadata: Buffer.from(text) });
  }

  withoutMetadata(): SessionBuilder {
    return this.#with({ hasMetadata: false });
  }

  withoutLog(): SessionBuilder {
    return this.#with({ hasLog: false });
  }

  build(): SessionFiles {
    const { id, lines, tail, hasMetadata, hasLog } = this.#parts;
    const log = Buffer.concat([...lines.map((line) => Buffer.from(`${line}\n`)), tail]);
    return { id, metadata: hasMetadata ? this.#metadata() : undefined, events: hasLog ? log : undefined };
  }

  #metadata(): Uint8Array {
    const { id, lines, metadata } = this.#parts;
    if (metadata instanceof Uint8Array) return metadata;
    const members = {
      sessionId: id,
      createdAt: '2026-07-09T10:00:00Z',
      updatedAt: '2026-07-09T11:00:00Z',
      eventCount: lines.length,
      ...(lines.length > 0 ? { lastEventType: 'message' } : {}),
      ...metadata,
    };
    return Buffer.from(`${JSON.stringify(members, null, 2)}\n`);
  }

  #with(changes: Partial<Parts>): SessionBuilder {
    return new SessionBuilder({ ...this.#parts, ...changes });
  }
}
