import type { Redaction } from './redaction.js';
import type { Style } from './render/style.js';

/** What a renderer may know of the place that its text is for. */
export interface Page {
  readonly style: Style;
  /** Columns of the terminal; undefined when piped, and then nothing is cut or wrapped. */
  readonly width: number | undefined;
  /** The present, for relative times; undefined when piped, and then times are RFC 3339. */
  readonly nowMs: number | undefined;
  /** Whether box-drawing characters can be shown. */
  readonly unicode: boolean;
  readonly redaction: Redaction;
  /** The home folder, shown as `~` on a terminal; undefined when piped or unknown. */
  readonly home: string | undefined;
}
