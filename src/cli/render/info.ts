import type { LeftOver } from '../../store/queries/left-overs.js';
import type { Page } from '../page.js';
import type { KeptSize } from '../report/kept-size.js';
import { safeText } from './safe-text.js';
import { formatBytes } from './time.js';

/** What a bug report needs, and nothing of what the sessions say. */
export interface InfoView {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly release: string;
  readonly root: string;
  readonly rootExists: boolean;
  /** How sessions are locked: a way to take flock, `none` or `off`. */
  readonly lock: string;
  /** Whether checkpoints are captured. */
  readonly checkpoints: boolean;
  /** How many sessions there are of each kind. */
  readonly sessions: Readonly<Record<string, number>>;
  readonly unreadable: number;
  /** What is kept for undo, in all sessions together. */
  readonly keptBytes: number;
  /** The sessions of which so much is kept that somebody should know, most first. */
  readonly notablyKept: readonly KeptSize[];
  /** What lies in the store and is no session, and in a session's folder and is no part of it. */
  readonly leftOvers: readonly LeftOver[];
}

const LOCKS: Readonly<Record<string, string>> = {
  'flock-command': 'flock, through the flock command',
  perl: 'flock, through perl',
  o_exlock: 'flock, on opening (O_EXLOCK)',
  none: 'no flock here: only appends are done',
  off: 'no flock, as wished (--no-flock)',
};

/** Gives what a bug report needs as lines of a name and a value. */
export function renderInfo(view: InfoView, { style, redaction }: Page): string {
  const kinds = Object.entries(view.sessions).map(([kind, count]) => `${count} ${kind}`);
  const unreadable = view.unreadable === 0 ? [] : [`${view.unreadable} unreadable`];
  const lines = [
    ['zero-sessions', view.version],
    ['node', view.node],
    ['platform', `${view.platform} ${view.arch} ${view.release}`],
    ['store', `${redaction.text(view.root)}${view.rootExists ? '' : ' (not there yet)'}`],
    ['sessions', [...kinds, ...unreadable].join(', ') || 'none'],
    ['locks', LOCKS[view.lock] ?? view.lock],
    ['checkpoints', view.checkpoints ? 'on' : 'off (ZERO_CHECKPOINTS)'],
    ...view.notablyKept.map(keptLine),
    ...view.leftOvers.map(leftOverLine),
  ] as const;
  return lines.map(([name, value]) => `${style.heading(name.padEnd(15))}${safeText(redaction.text(value))}\n`).join('');
}

function keptLine({ sessionId, bytes }: InfoView['notablyKept'][number], at: number): readonly [string, string] {
  return [at === 0 ? 'kept for undo' : '', `${formatBytes(bytes)} in ${sessionId}`];
}

function leftOverLine({ path, kind }: InfoView['leftOvers'][number], at: number): readonly [string, string] {
  const mark = kind === 'directory' ? '/' : kind === 'link' ? ' (link)' : '';
  return [at === 0 ? 'no session' : '', `${path}${mark}`];
}
