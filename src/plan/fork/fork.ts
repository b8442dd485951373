import { EventNotFoundError, InvalidArgumentError, SequenceExhaustedError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import type { LineChanges } from '../../model/event-codec.js';
import { eventIdOf, eventName, leavesRoom, type Sequence, sequenceText, trimSpace } from '../../model/ids.js';
import { encodeJson } from '../../model/json.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { usedTwice } from '../../model/used-twice.js';
import { compactionForFork } from './copied-compaction.js';
import { CopiedEvents } from './copied-events.js';

/** What a fork is asked to be; what is blank or left out comes from the parent. */
type ForkWishes = { readonly [Name in ForkMember]?: string | undefined };
type ForkMember = 'sessionKind' | 'title' | 'cwd' | 'modelId' | 'provider' | 'tag';

interface ForkCopyOptions {
  readonly parentId: string;
  readonly forkId: string;
  /** The time of the fork: that of every event in it. */
  readonly createdAt: string;
  /** The last sequence of the parent that is copied; 0 copies none. All events when left out. */
  readonly at?: number | undefined;
}

export function forkKind(wished: string | undefined): 'fork' | 'side' {
  const kind = trimSpace(wished ?? '');
  if (kind === '' || kind === 'fork') return 'fork';
  if (kind === 'side') return kind;
  throw new InvalidArgumentError('sessionKind', `A fork cannot be of kind ${JSON.stringify(wished)}`, 'fork or side.');
}

export function checkForkPoint(at: number | undefined): void {
  if (at === undefined || (Number.isSafeInteger(at) && at >= 0)) return;
  throw new InvalidArgumentError('at', `A fork cannot end at ${at}`, 'Give the sequence of an event, or 0 for none.');
}

/** What a fork starts with: from the wishes, else from the parent. Tag, depth and goal are not taken over. */
export function forkBeginnings(
  parent: SessionMetadata,
  wishes: ForkWishes,
): Pick<SessionMetadata, ForkMember | 'parentSessionId' | 'rootSessionId'> {
  const or = (wished: string | undefined, inherited: string | undefined): string =>
    trimSpace(wished ?? '') || (inherited ?? '');
  return {
    sessionKind: forkKind(wishes.sessionKind),
    title: or(wishes.title, parent.title === undefined ? '' : `${parent.title} (fork)`),
    cwd: or(wishes.cwd, parent.cwd),
    modelId: or(wishes.modelId, parent.modelId),
    provider: or(wishes.provider, parent.provider),
    tag: or(wishes.tag, ''),
    parentSessionId: parent.sessionId,
    rootSessionId: parent.rootSessionId ?? parent.sessionId,
  };
}

/**
 * Decides event by event what a fork copies: everything but usage, renumbered from 1, compactions in its own numbers.
 * @see FORMAT.md, 4, fork; 5, "A fork of a compacted session is compacted"
 */
export class ForkCopy {
  readonly #options: ForkCopyOptions;
  readonly #copied: CopiedEvents;
  #lastLine: number | undefined;
  #last: { readonly id: string; readonly sequence: number } | undefined;

  constructor(options: ForkCopyOptions) {
    this.#options = options;
    this.#copied = new CopiedEvents(options.parentId);
  }

  /** Whether the last event that is wanted has been seen: what lies behind it, damage included, does not matter. */
  get isComplete(): boolean {
    const { at } = this.#options;
    return at === 0 || (at !== undefined && this.#last?.sequence === at);
  }

  /**
   * Whether an event lies within what is copied.
   * @throws EventNotFoundError when it lies behind the end, and the end itself was not there.
   * @throws LogDamagedError when the sequence of the end stands for two events (FAULTS.md, 27), naming both lines.
   */
  reaches({ sequence }: StoredEvent, line: number): boolean {
    const { at, parentId } = this.#options;
    if (at === undefined) return true;
    if (this.isComplete && sequence === at) throw usedTwice(parentId, `the sequence ${at}`, this.#lastLine, line);
    if (this.isComplete) return false;
    if (sequence > at) throw new EventNotFoundError(parentId, at, this.#nearest(sequence));
    if (sequence === at) this.#lastLine = line;
    return true;
  }

  /**
   * What the line of the next event says in the fork; undefined when it is left out.
   * @throws SequenceExhaustedError when its sequence is beyond what a number can count on from.
   */
  take(event: StoredEvent): LineChanges | undefined {
    if (!leavesRoom(event.sequence)) {
      throw new SequenceExhaustedError(this.#options.parentId, sequenceText(event), true);
    }
    this.#last = event;
    if (event.type === 'provider_usage') return undefined;
    const { forkId, createdAt } = this.#options;
    const payload = event.type === 'session_compaction' ? compactionForFork(event, this.#copied, forkId) : undefined;
    const sequence = this.#copied.add(event);
    const changes = { id: eventIdOf(forkId, sequence), sessionId: forkId, sequence, createdAt };
    return payload === undefined ? changes : { ...changes, payload };
  }

  /**
   * The event that closes a fork, once all events of the parent were taken.
   * @param parentEventCount - The highest sequence that the parent has used.
   * @throws EventNotFoundError when the event to end at was not there.
   */
  marker(parentEventCount: bigint): StoredEvent {
    const { at, forkId, parentId, createdAt } = this.#options;
    if (at !== undefined && !this.isComplete) throw new EventNotFoundError(parentId, at, this.#nearest());
    const { forkedFromEventId, forkedFromSequence } = this.origin;
    const sequence = this.#copied.count + 1;
    return {
      id: eventIdOf(forkId, sequence),
      sessionId: forkId,
      sequence: sequence as Sequence,
      type: 'session_fork',
      createdAt,
      payload: encodeJson({
        parentSessionId: parentId,
        parentEventCount: parentEventCount > forkedFromSequence ? parentEventCount : forkedFromSequence,
        copiedEventCount: this.#copied.count,
        forkedFromEventId,
        forkedFromSequence,
      }),
    };
  }

  /** The event of the parent that the fork goes on from; empty and 0 when there is none. */
  get origin(): { readonly forkedFromEventId: string; readonly forkedFromSequence: number } {
    if (this.#last === undefined) return { forkedFromEventId: '', forkedFromSequence: 0 };
    return {
      forkedFromEventId: eventName(this.#last, this.#options.parentId),
      forkedFromSequence: this.#last.sequence,
    };
  }

  #nearest(above?: number): readonly number[] {
    return [this.#last?.sequence, above].filter((sequence) => sequence !== undefined);
  }
}
