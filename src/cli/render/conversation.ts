import { type CheckpointFile, RESTORE_TOOL, REWIND_INTENT_TOOL } from '../../model/event.js';
import { sequenceText } from '../../model/ids.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { Page } from '../page.js';
import {
  argumentsLine,
  characterCount,
  childText,
  compactionText,
  fileText,
  forkText,
  payloadLine,
  rewindText,
  type ShownEvent,
  shownEvent,
  typeText,
  usageText,
} from './event-view.js';
import { counted } from './numbers.js';
import { safeLines, safeText } from './safe-text.js';
import type { Paint } from './style.js';
import { storedTime } from './time.js';
import { displayWidth, truncateToWidth } from './width.js';
import { wrapLine } from './wrap.js';

/** How a conversation is shown. */
interface ConversationOptions {
  /** Columns for the numbers of the events. */
  readonly numberWidth: number;
  /** Whether results, arguments and summaries are shown whole. */
  readonly full: boolean;
}

/** What is shown of an event: a head beside its number, and lines under it. */
interface Block {
  /** `speech` and `rule` stand apart from what is around them. */
  readonly kind: 'speech' | 'line' | 'rule';
  readonly head: string;
  readonly body: readonly string[];
}

/** Everything that the lines of a block depend on. */
interface Layout extends ConversationOptions {
  readonly page: Page;
  /** Columns for a line of a block; undefined when nothing is cut. */
  readonly room: number | undefined;
}

const GAP = '  ';
const EXCERPT_LINES = 6;
const SHOWN_FILES = 8;
const RULE_WIDTH_PIPED = 80;

/** Gives a conversation as a person would read it, while it is read; the number before an event is its position. */
export async function* renderConversation(
  items: AsyncIterable<ScannedLine>,
  page: Page,
  options: ConversationOptions,
): AsyncGenerator<string> {
  const indent = options.numberWidth + GAP.length;
  const room = page.width === undefined ? undefined : Math.max(20, page.width - indent);
  const layout: Layout = { ...options, page, room };
  let previous: Block['kind'] | undefined;
  for await (const item of items) {
    const block = item.kind === 'damage' ? damageBlock(item.damage, page) : eventBlock(item.event, layout);
    const number = item.kind === 'damage' ? '' : sequenceText(item.event);
    const isApart = previous !== undefined && (block.kind !== 'line' || previous !== 'line');
    previous = block.kind;
    const head = `${page.style.dim(number.padStart(options.numberWidth))}${GAP}${block.head}\n`;
    const body = block.body.map((line) => (line === '' ? '\n' : `${' '.repeat(indent)}${line}\n`));
    yield `${isApart ? '\n' : ''}${head}${body.join('')}`;
  }
}

function damageBlock(damage: { readonly line: number; readonly message: string }, { style }: Page): Block {
  const where = damage.line > 0 ? `line ${damage.line} ` : '';
  return { kind: 'line', head: style.error(safeText(`damaged: ${where}${damage.message}`)), body: [] };
}

function eventBlock(stored: ShownEvent['event'], layout: Layout): Block {
  const shown = shownEvent(stored, layout.page.redaction);
  const { event, view } = shown;
  const { page } = layout;
  const { style } = page;
  switch (view.type) {
    case 'message':
      return speech(view, event.createdAt, layout);
    case 'tool_call': {
      const name = style.tool(safeText(`${arrow(page, 'out')} ${view.name}`));
      return { kind: 'line', ...headAndRest(name, argumentsLine(view.arguments), layout) };
    }
    case 'tool_result':
      return result(view, layout);
    case 'permission':
      return line(style.dim, ['permission', view.action, view.tool].filter((text) => text !== '').join(' '), layout);
    case 'usage':
      return line(style.dim, usageText(view), layout);
    case 'error':
      return line(style.error, `error: ${view.message}`, layout);
    case 'checkpoint':
      return checkpoint(view.tool, view.files, layout);
    case 'rewind':
      return rule(rewindText(view), '', layout);
    case 'compaction':
      return rule(compactionText(view), view.summary, layout);
    case 'fork':
      return rule(forkText(view), '', layout);
    case 'child':
      return line(style.kind, childText(view), layout);
    case 'other': {
      const type = page.redaction.text(typeText(event.type));
      return { kind: 'line', ...headAndRest(style.kind(safeText(type)), payloadLine(event), layout) };
    }
    default:
      return view satisfies never;
  }
}

function speech(
  { role, content, answers }: { readonly role: string; readonly content: string; readonly answers: readonly string[] },
  createdAt: string,
  layout: Layout,
): Block {
  const { style, nowMs } = layout.page;
  const paint = SPEAKER_PAINTS.get(role) ?? 'kind';
  const who = style[paint](safeText(role === '' ? 'somebody' : role));
  const text = [content, ...answers].filter((part) => part !== '').join('\n');
  return {
    kind: 'speech',
    head: `${who}${GAP}${style.dim(storedTime(createdAt, nowMs))}`,
    body: text === '' ? [style.dim('(nothing)')] : wrapped(safeLines(text), layout),
  };
}

const SPEAKER_PAINTS: ReadonlyMap<string, 'user' | 'assistant'> = new Map([
  ['user', 'user'],
  ['ask_user_answers', 'user'],
  ['assistant', 'assistant'],
]);

function result(
  view: { readonly name: string; readonly status: string; readonly output: string; readonly truncated: boolean },
  layout: Layout,
): Block {
  const { page } = layout;
  const { style } = page;
  const isBad = view.status !== 'ok' && view.status !== '';
  const facts = [view.status, characterCount(view.output), view.truncated ? 'cut by the tool' : ''];
  const text = `${arrow(page, 'in')} ${view.name} ${facts.filter((fact) => fact !== '').join(', ')}`;
  const paint = isBad ? style.error : style.dim;
  return { ...line(paint, text, layout), body: excerpt(view.output, layout) };
}

const OWN_WORDS: ReadonlyMap<string, string> = new Map([
  [REWIND_INTENT_TOOL, 'files as a rewind found them'],
  [RESTORE_TOOL, 'files as a restore found them'],
]);

function checkpoint(tool: string, files: readonly CheckpointFile[], layout: Layout): Block {
  const { style } = layout.page;
  const what = OWN_WORDS.get(tool) ?? `checkpoint before ${tool}`;
  const most = layout.full ? files.length : SHOWN_FILES;
  const shown = files.slice(0, most).map((file) => cut(safeText(fileText(file)), layout));
  const more = files.length > most ? [style.dim(`${ellipsis(layout.page)} ${files.length - most} more`)] : [];
  return { ...line(style.ok, `${what}: ${counted(files.length, 'file')}`, layout), body: [...shown, ...more] };
}

/** Gives a line across the page with a text in it, and what it is about under it. */
function rule(text: string, body: string, layout: Layout): Block {
  const { style, unicode } = layout.page;
  const stroke = unicode ? '─' : '-';
  const width = layout.room ?? RULE_WIDTH_PIPED - layout.numberWidth - GAP.length;
  const head = `${stroke.repeat(2)} ${layout.room === undefined ? safeText(text) : truncateToWidth(safeText(text), width - 6)} `;
  const line = head + stroke.repeat(Math.max(2, width - displayWidth(head)));
  return { kind: 'rule', head: style.rule(line), body: body === '' ? [] : excerpt(body, layout) };
}

/** Gives one line in one colour. */
function line(paint: Paint, text: string, layout: Layout): Block {
  const [first = '', ...rest] = layout.full ? wrapped([safeText(text)], layout) : [cut(safeText(text), layout)];
  return { kind: 'line', head: paint(first), body: rest.map(paint) };
}

/** Gives a painted name with a text after it on the same line; under `--full` what does not fit goes below. */
function headAndRest(name: string, text: string, layout: Layout): Pick<Block, 'head' | 'body'> {
  const shown = safeText(text);
  const used = displayWidth(stripPaint(name)) + 1;
  if (shown === '') return { head: name, body: [] };
  if (layout.room === undefined || used + displayWidth(shown) <= layout.room)
    return { head: `${name} ${shown}`, body: [] };
  if (layout.full) return { head: name, body: wrapped([shown], layout) };
  return { head: `${name} ${truncateToWidth(shown, Math.max(0, layout.room - used))}`, body: [] };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it takes off our own colours
const PAINT = /\u001b\[[\d;]*m/g;

function stripPaint(text: string): string {
  return text.replace(PAINT, '');
}

/** Gives the first lines of a text behind a bar, and how many more there are. */
function excerpt(text: string, layout: Layout): readonly string[] {
  const { style, unicode } = layout.page;
  const bar = style.dim(unicode ? '│ ' : '| ');
  const barred: Layout = { ...layout, room: layout.room === undefined ? undefined : layout.room - 2 };
  if (layout.full) return wrapped(safeLines(text), barred).map((each) => (bar + each).trimEnd());
  const head = firstLines(text, EXCERPT_LINES);
  const lines = safeLines(head.text).map((each) => (bar + cut(each, barred)).trimEnd());
  const more = head.more > 0 ? [bar + style.dim(`${ellipsis(layout.page)} ${counted(head.more, 'more line')}`)] : [];
  return [...lines, ...more];
}

/** Gives the beginning of a text and how many lines are left, without splitting all of it. */
function firstLines(text: string, most: number): { readonly text: string; readonly more: number } {
  let end = 0;
  for (let line = 0; line < most; line += 1) {
    const newline = text.indexOf('\n', end);
    if (newline < 0) return { text, more: 0 };
    end = newline + 1;
  }
  let more = 0;
  for (let at = end; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
    more += 1;
  }
  return { text: text.slice(0, end), more };
}

function wrapped(lines: readonly string[], { room }: Layout): string[] {
  return room === undefined ? [...lines] : lines.flatMap((each) => wrapLine(each, room));
}

function cut(text: string, { room }: Layout): string {
  return room === undefined ? text : truncateToWidth(text, room);
}

function arrow({ unicode }: Page, direction: 'in' | 'out'): string {
  if (unicode) return direction === 'out' ? '→' : '←';
  return direction === 'out' ? '->' : '<-';
}

function ellipsis({ unicode }: Page): string {
  return unicode ? '…' : '...';
}
