import type { StoreDeps, StoreWarning } from '../store/base/deps.js';
import { storeDeps } from '../store/open-store.js';
import { SessionStore } from '../store/session-store.js';
import type { CommandContext } from './command.js';
import type { CliContext, GlobalOptions } from './context.js';
import { pageOf } from './page.js';
import { HIDE_SECRETS, SHOW_SECRETS, watchRedaction } from './redaction.js';
import { COMMANDS } from './registry.js';
import { safeText } from './render/safe-text.js';
import { createStyle, wantsColor } from './render/style.js';
import { errorStyle } from './report/error-style.js';
import { type Interruption, interruptionBy } from './report/interruption.js';

/**
 * Gives what a command runs with. The store is opened by the first that asks for it.
 * @param runAnother - Runs another command line.
 */
export function openContext(
  context: CliContext,
  globals: GlobalOptions,
  runAnother: CommandContext['runAnother'],
): CommandContext {
  const redaction = globals.redact ? HIDE_SECRETS : SHOW_SECRETS;
  const watched = watchRedaction(redaction);
  const { env, outIsTerminal } = context;
  const interruption = interruptionBy(context.signal);
  const errStyle = errorStyle(context, globals.color);
  const say = (mark: string, text: string) => context.err.write(`${mark}${safeText(redaction.text(text))}\n`);
  const note = (text: string) => (globals.quiet ? Promise.resolve() : say('', text));
  const warn = (text: string) => say(`${errStyle.warning('warning:')} `, text);
  // Opened by the first that asks: some commands have nothing to do with a store.
  let opened: { readonly deps: StoreDeps; readonly store: SessionStore } | undefined;
  const open = () => {
    opened ??= openStore(context, globals, interruption, (warning) => {
      // Order is that of the calls, awaited or not.
      void (isNote(warning) ? note(warning.message) : warn(warning.message));
    });
    return opened;
  };
  return {
    ...context,
    signal: interruption.signal,
    interruption,
    globals,
    get store() {
      return open().store;
    },
    get homes() {
      return open().deps.homes;
    },
    page: pageOf(context, outIsTerminal, {
      style: createStyle({ color: wantsColor({ mode: globals.color, isTTY: outIsTerminal, env }) }),
      redaction: watched.redaction,
    }),
    hasHidden: watched.hasHidden,
    commands: COMMANDS,
    runAnother,
    note,
    warn,
  };
}

function openStore(
  { env, home, now, uid }: CliContext,
  { root, lockTimeoutMs, flock, asOwner }: GlobalOptions,
  { signal, beforeChange }: Interruption,
  onWarning: (warning: StoreWarning) => void,
): { readonly deps: StoreDeps; readonly store: SessionStore } {
  const deps = storeDeps({
    root,
    env,
    home,
    now,
    lockTimeoutMs,
    signal,
    beforeChange,
    flock: flock ? 'auto' : 'off',
    uid,
    asOwner,
    onWarning,
  });
  return { deps, store: new SessionStore(deps) };
}

function isNote({ code }: StoreWarning): boolean {
  return code === 'TORN_TAIL' || code === 'REWIND_RECOVERED';
}
