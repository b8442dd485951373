import picocolors from 'picocolors';

/** Puts colour around a text, or gives it back as it is. The text is safe already: nothing in it is escaped here. */
export type Paint = (text: string) => string;

/** Names for what a text is, so that no view names a colour. */
export interface Style {
  readonly plain: Paint;
  readonly dim: Paint;
  readonly heading: Paint;
  readonly title: Paint;
  readonly id: Paint;
  readonly kind: Paint;
  readonly live: Paint;
  readonly ok: Paint;
  readonly warning: Paint;
  readonly error: Paint;
  /** A line across the page. */
  readonly rule: Paint;
  readonly code: Paint;
  readonly added: Paint;
  readonly removed: Paint;
  readonly hunk: Paint;
  /** Who speaks in a conversation. */
  readonly user: Paint;
  readonly assistant: Paint;
  readonly tool: Paint;
}

/**
 * Gives the paints, or with `color` false ones that change nothing.
 *
 * Only colours that can be read on a dark and on a light background: no yellow, no white, no blue, no bright ones.
 */
export function createStyle(options: { readonly color: boolean }): Style {
  const colors = picocolors.createColors(options.color);
  const both =
    (outer: Paint, inner: Paint): Paint =>
    (text) =>
      outer(inner(text));
  return {
    plain: (text) => text,
    dim: colors.dim,
    heading: colors.bold,
    title: colors.bold,
    id: colors.cyan,
    kind: colors.magenta,
    live: both(colors.bold, colors.green),
    ok: colors.green,
    warning: both(colors.bold, colors.magenta),
    error: both(colors.bold, colors.red),
    rule: colors.dim,
    code: colors.cyan,
    added: colors.green,
    removed: colors.red,
    hunk: colors.cyan,
    user: both(colors.bold, colors.cyan),
    assistant: both(colors.bold, colors.green),
    tool: colors.magenta,
  };
}

/** What `--color` says. */
export type ColorMode = 'auto' | 'always' | 'never';

/**
 * Tells whether to colour what goes to one stream.
 *
 * Under `auto`, in this order: `NO_COLOR` that is not empty says no; `FORCE_COLOR` that is not empty says yes, or no
 * with `0` or `false`; `TERM=dumb` says no; else a terminal gets colour and anything else none.
 * @see CLI.md, "Shape"
 */
export function wantsColor(options: {
  readonly mode: ColorMode;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}): boolean {
  const { mode, isTTY, env } = options;
  if (mode !== 'auto') return mode === 'always';
  if (env.NO_COLOR) return false;
  const force = env.FORCE_COLOR;
  if (force) return force !== '0' && force !== 'false';
  return isTTY && env.TERM !== 'dumb';
}
