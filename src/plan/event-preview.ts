import type { EventView, StoredEvent } from '../model/event.js';
import { viewEvent } from '../model/event-view.js';
import { rawJsonText } from '../model/json.js';
import { redactJson, redactText } from '../redaction/redaction.js';

/** How much a preview tells of tools and permissions: which they were, or also what went in and came out. */
type PreviewDetail = 'identity' | 'content';

const CUT_MARK = '…';
const encoder = new TextEncoder();

/**
 * An event as one line of a prompt, `- [12] message user: …`, redacted and then cut (FORMAT.md, 4 and 7).
 * Control characters are shown as escapes, so that no text can begin a line.
 */
export function previewLine(event: StoredEvent, detail: PreviewDetail, cut: (line: string) => string): string {
  const text = previewText(event, detail);
  const head = `- [${event.sequence}] ${fold(event.type)}`;
  return cut(text === '' ? head : `${head} ${fold(text)}`);
}

/** What an event says, redacted; its payload as JSON where we do not know what that says. */
export function toldText(event: StoredEvent): string {
  return previewText(event, 'content');
}

/** At most so many code points, with a mark where the text was cut. */
export function cutToCodePoints(text: string, limit: number): string {
  if (text.length <= limit || countCodePoints(text) <= limit) return text;
  let end = 0;
  for (let points = 1; points < limit; points += 1) end += widthAt(text, end);
  return limit <= 0 ? '' : `${text.slice(0, end)}${CUT_MARK}`;
}

/** At most so many bytes of UTF-8, cut between characters, with a mark where the text was cut. */
export function cutToBytes(text: string, limit: number): string {
  // A unit of UTF-16 is 1 to 3 bytes.
  if (text.length * 3 <= limit || (text.length <= limit && encoder.encode(text).length <= limit)) return text;
  const room = new Uint8Array(Math.max(0, limit - encoder.encode(CUT_MARK).length));
  const { read } = encoder.encodeInto(text, room);
  return limit < encoder.encode(CUT_MARK).length ? '' : `${text.slice(0, read)}${CUT_MARK}`;
}

/** How many characters a text has: code points, as Go counts runes. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count += 1;
  return count;
}

/** Escapes everything that would end a line or command a terminal. */
export function fold(text: string): string {
  return text.replace(UNPRINTABLE, (unit) => {
    const short = SHORT_ESCAPES[unit];
    return short ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

// Controls, line and paragraph separators, and what turns the direction of the text around it.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function previewText(event: StoredEvent, detail: PreviewDetail): string {
  const view = viewEvent(event);
  const text = detail === 'identity' ? (identityOf(view) ?? contentOf(view)) : contentOf(view);
  if (text !== undefined) return text;
  return event.payload === undefined ? '' : redactJson(rawJsonText(event.payload));
}

function identityOf(view: EventView): string | undefined {
  switch (view.type) {
    case 'tool_call':
      return fields([view.name, view.callId]);
    case 'tool_result':
      return fields([view.name, view.callId, view.status]);
    case 'permission':
      return fields([view.tool, view.action]);
    default:
      return undefined;
  }
}

/** What an event says, redacted; undefined where its payload has to speak for itself. */
function contentOf(view: EventView): string | undefined {
  switch (view.type) {
    case 'message': {
      const said = [view.content, ...view.answers].filter((part) => part !== '').join('\n');
      return said === '' ? undefined : `${fields([view.role])}: ${redactText(said)}`.replace(/^: /, '');
    }
    case 'tool_call':
      return view.name === '' ? undefined : `${fields([view.name])}: ${redactText(view.arguments)}`;
    case 'tool_result':
      return view.name === '' ? undefined : `${fields([view.name, view.status])}: ${redactText(view.output)}`;
    case 'permission':
      return fields([view.tool, view.action]) || undefined;
    case 'error':
      return view.message === '' ? undefined : redactText(view.message);
    case 'compaction':
      return view.summary === '' ? undefined : redactText(view.summary);
    default:
      return undefined;
  }
}

function fields(parts: readonly string[]): string {
  return redactText(parts.filter((part) => part !== '').join(' '));
}

function widthAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
