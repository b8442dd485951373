import type { EventRef, StoredEvent } from './event.js';

/** An event whose payload plans need: a checkpoint, a compaction or a fork marker. */
export type OutlinedPayload = Pick<EventRef, 'id' | 'sequence' | 'exactSequence'> & Pick<StoredEvent, 'payload'>;

/** A log without its payloads, small enough to plan over (STYLE.md, 2). */
export interface LogOutline {
  readonly sessionId: string;
  /** Oldest first. */
  readonly events: readonly EventRef[];
  readonly checkpoints: readonly OutlinedPayload[];
  readonly compactions: readonly OutlinedPayload[];
  readonly forks: readonly OutlinedPayload[];
  /** Whether a rewind was ever applied: only then can Zero have used an id twice. */
  readonly rewound: boolean;
  /** The highest sequence that the log or the metadata have seen. */
  readonly highest: number;
  /** Sequences that stand twice, each with two of its lines, 1-based; only in a log that is damaged so. */
  readonly repeated?: ReadonlyMap<number, readonly [first: number, second: number]>;
}
