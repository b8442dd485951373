import { redactJsonBytes, redactText } from '../redaction/redaction.js';

/** Hides what looks like a secret, or nothing under `--no-redact`. Always given the whole, never what was cut. */
export interface Redaction {
  text(text: string): string;
  /** JSON text as it was stored; what is not hidden keeps its bytes. */
  json(json: Uint8Array): Uint8Array;
}

/** Hides secrets (FORMAT.md, 7). */
export const HIDE_SECRETS: Redaction = { text: redactText, json: redactJsonBytes };

/** Shows everything as it is. */
export const SHOW_SECRETS: Redaction = { text: (text) => text, json: (json) => json };

/** A redaction that knows afterwards whether it hid anything. */
interface WatchedRedaction {
  readonly redaction: Redaction;
  hasHidden(): boolean;
}

/** Gives a redaction that is watched. */
export function watchRedaction({ text, json }: Redaction): WatchedRedaction {
  let hasHidden = false;
  const watched = <T>(shown: T, stored: T): T => {
    hasHidden ||= shown !== stored;
    return shown;
  };
  return {
    redaction: { text: (stored) => watched(text(stored), stored), json: (stored) => watched(json(stored), stored) },
    hasHidden: () => hasHidden,
  };
}
