import type { CliContext } from '../context.js';
import { type ColorMode, createStyle, type Style, wantsColor } from '../render/style.js';

/** Gives the paints for stderr, which is looked at apart from stdout. */
export function errorStyle({ env, errIsTerminal }: CliContext, mode: ColorMode): Style {
  return createStyle({ color: wantsColor({ mode, isTTY: errIsTerminal, env }) });
}
