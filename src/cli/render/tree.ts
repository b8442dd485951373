import type { SessionMetadata } from '../../model/metadata.js';
import { integerText } from '../../model/metadata.js';
import type { UnreadableSession } from '../../store/queries/list-sessions.js';
import type { Page } from '../page.js';
import { kindName } from './listed-session.js';
import { departureText, type ForestNode, originOf, type SessionForest, walk } from './session-forest.js';
import { shownTitle } from './session-text.js';
import { type Cell, type Column, renderTable } from './table.js';
import { storedTime } from './time.js';

/** What `tree` found: one tree with the path down to it, or all of them. */
export interface TreeView {
  /** From the root to the session above the one that was asked for; empty for the whole forest. */
  readonly path: readonly SessionMetadata[];
  readonly trees: readonly ForestNode[];
  readonly isLive: (sessionId: string) => boolean | undefined;
  readonly unreadable: readonly UnreadableSession[];
  /** Sessions that are each other's ancestors: they stand under no root. */
  readonly rings: SessionForest['rings'];
  readonly root: string;
}

const COLUMNS: readonly Column[] = [
  { header: 'SESSION' },
  { header: 'TITLE', shrink: 2, minWidth: 16 },
  { header: 'KIND' },
  { header: 'FROM' },
  { header: 'EVENTS', align: 'right', hide: 2 },
  { header: 'UPDATED', hide: 1 },
];

/** The strokes of a tree, one set of each length. */
interface Strokes {
  readonly child: string;
  readonly lastChild: string;
  readonly passing: string;
  readonly nothing: string;
}

const BOXES: Strokes = { child: '├─ ', lastChild: '└─ ', passing: '│  ', nothing: '   ' };
const ASCII: Strokes = { child: '|- ', lastChild: '`- ', passing: '|  ', nothing: '   ' };
// Beyond this the strokes would take more room than everything else: a fork of a fork of a fork, a thousand times.
const DEEPEST_STROKES = 24;

/** Gives a forest as a table whose first column is drawn as a tree; the path down to it comes first. */
export function renderTree(view: TreeView, page: Page): string {
  if (view.trees.length === 0) return '';
  const strokes = page.unicode ? BOXES : ASCII;
  const rows = view.path.map((session, at) => {
    const stem = at === 0 ? '' : stemText(strokes.nothing.repeat(at - 1), at, strokes.lastChild);
    return row(session, stem, view, page, 'above');
  });
  for (const top of view.trees) {
    for (const { node, stem } of drawn(top, view.path.length, strokes)) rows.push(row(node.session, stem, view, page));
  }
  return renderTable(COLUMNS, rows, { width: page.width, style: page.style });
}

/** Gives each node with the strokes before it. */
function* drawn(
  top: ForestNode,
  depthOfTop: number,
  strokes: Strokes,
): Generator<{ readonly node: ForestNode; readonly stem: string }> {
  const before: string[] = []; // by depth: what passes on the left of a node's children
  for (const { node, depth } of walk(top)) {
    const isTop = depth === 0;
    const isLast = isTop || node.parent?.children.at(-1) === node;
    const stroke = isLast ? strokes.lastChild : strokes.child;
    const left = isTop ? strokes.nothing.repeat(Math.max(0, depthOfTop - 1)) : (before[depth - 1] ?? '');
    const isRoot = isTop && depthOfTop === 0;
    yield { node, stem: isRoot ? '' : stemText(left, depth + depthOfTop, stroke) };
    const passing = isLast ? strokes.nothing : strokes.passing;
    before[depth] = isRoot ? '' : capped(left + passing);
  }
}

function stemText(left: string, depth: number, stroke: string): string {
  return depth > DEEPEST_STROKES ? `(${depth}) ${stroke}` : left + stroke;
}

function capped(left: string): string {
  return left.slice(0, DEEPEST_STROKES * BOXES.nothing.length);
}

function row(session: SessionMetadata, stem: string, view: TreeView, page: Page, place?: 'above'): Cell[] {
  const { style, redaction } = page;
  const idPaint = place === 'above' ? style.dim : style.id;
  const kind = redaction.text(kindName(session));
  return [
    {
      text: stem + session.sessionId,
      paint: (text) => style.dim(text.slice(0, stem.length)) + idPaint(text.slice(stem.length)),
    },
    shownTitle(session, page),
    view.isLive(session.sessionId) === true
      ? { text: `${kind}, live`, paint: style.live }
      : { text: kind, paint: style.kind },
    leftText(session, stem === '', view),
    integerText(session, 'eventCount'),
    storedTime(session.updatedAt, page.nowMs),
  ];
}

/** Gives where a session left its parent; the parent too, when it does not stand above. */
function leftText(session: SessionMetadata, isTop: boolean, { unreadable }: TreeView): string {
  const sequence = departureText(session);
  const origin = originOf(session) ?? '';
  if (origin === '') return '';
  const at = sequence === undefined ? '' : `event ${sequence}`;
  if (!isTop) return at;
  const fault = unreadable.some(({ sessionId }) => sessionId === origin) ? 'unreadable' : 'missing';
  return `${at === '' ? '' : `${at} of `}${origin} (${fault})`;
}
