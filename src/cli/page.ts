import type { CliContext } from './context.js';
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

/**
 * Gives the page of one of the program's streams.
 * @param isTerminal - Whether a person looks at that stream.
 */
export function pageOf(
  { columns, now, env }: CliContext,
  isTerminal: boolean,
  shown: Pick<Page, 'style' | 'redaction'>,
): Page {
  return {
    ...shown,
    width: isTerminal ? columns : undefined,
    nowMs: isTerminal ? now().getTime() : undefined,
    unicode: isUtf8Locale(env),
    home: isTerminal ? env.HOME : undefined,
  };
}

function isUtf8Locale(env: CliContext['env']): boolean {
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}
