import type { EventRef } from '../model/event.js';

export interface CompactionOptions {
  /** How many of the last events stay; 6 when left out or not positive. */
  readonly preserveLast?: number | undefined;
  /** Characters of the prompt at the most; 8,000 when left out or not positive. */
  readonly maxPromptChars?: number | undefined;
  readonly skipPrompt?: boolean | undefined;
}

export interface CompactionPlan {
  readonly sessionId: string;
  readonly preserveLast: number;
  readonly compactableCount: number;
  readonly preservedCount: number;
  readonly compactableEvents: readonly EventRef[];
  readonly preservedEvents: readonly EventRef[];
  readonly summaryPrompt: string;
  /** Characters (code points) of the prompt. */
  readonly promptChars: number;
  readonly truncated?: boolean;
}

export interface CompactionPayload {
  readonly summary: string;
  readonly preserveLast: number;
  readonly compactableCount: number;
  readonly preservedCount: number;
  readonly compactedThroughEventId?: string;
  readonly compactedThroughSequence?: number;
  readonly compactableEvents?: readonly EventRef[];
  readonly preservedEvents?: readonly EventRef[];
  readonly promptChars?: number;
  readonly truncated?: boolean;
}

export function compactionPayloadFromPlan(_summary: string, _plan: CompactionPlan): CompactionPayload {
  throw new Error('stub');
}
