import { sequenceText } from '../../model/ids.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { Page } from '../page.js';
import { eventLine, shownEvent, typeText } from './event-view.js';
import { safeText } from './safe-text.js';
import { storedTime } from './time.js';
import { displayWidth, padToWidth, truncateToWidth } from './width.js';

const TIME_WIDTH_TERMINAL = 11;
const TIME_WIDTH_PIPED = 20;
// The longest type that Zero writes.
const TYPE_WIDTH = 'permission_decision'.length;
const GAP = '  ';

/**
 * Gives events as a table, a row each, while they are read: widths are those that are usual, since the rows to come
 * are not known. On a terminal rows are cut to its width.
 */
export async function* renderEventTable(
  items: AsyncIterable<ScannedLine>,
  page: Page,
  { numberWidth }: { readonly numberWidth: number },
): AsyncGenerator<string> {
  const { style, redaction, nowMs } = page;
  const timeWidth = nowMs === undefined ? TIME_WIDTH_PIPED : TIME_WIDTH_TERMINAL;
  const row = (number: string, time: string, type: string, what: string, paints: Paints) => {
    const head = [padToWidth(number, numberWidth, 'right'), padToWidth(time, timeWidth), padToWidth(type, TYPE_WIDTH)];
    const room = page.width === undefined ? undefined : page.width - displayWidth(head.join(GAP)) - GAP.length;
    const text = room === undefined ? what : truncateToWidth(what, Math.max(0, room));
    const cells = [paints.number(head[0] ?? ''), paints.time(head[1] ?? ''), paints.type(head[2] ?? '')];
    return `${[...cells, paints.what(text)].join(GAP).trimEnd()}\n`;
  };
  const heading = { number: style.heading, time: style.heading, type: style.heading, what: style.heading };
  const plain = { number: style.id, time: style.dim, type: style.kind, what: style.plain };
  const damaged = { ...plain, type: style.error, what: style.error };
  yield row('SEQ', 'TIME', 'TYPE', 'WHAT', heading);
  for await (const item of items) {
    if (item.kind === 'damage') {
      yield row('', '', 'damaged', safeText(`line ${item.damage.line} ${item.damage.message}`), damaged);
      continue;
    }
    const shown = shownEvent(item.event, redaction);
    const { createdAt } = item.event;
    const type = safeText(redaction.text(typeText(item.event.type)));
    yield row(sequenceText(item.event), storedTime(createdAt, nowMs), type, safeText(eventLine(shown)), plain);
  }
}

interface Paints {
  readonly number: Page['style']['plain'];
  readonly time: Page['style']['plain'];
  readonly type: Page['style']['plain'];
  readonly what: Page['style']['plain'];
}
