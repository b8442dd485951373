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
