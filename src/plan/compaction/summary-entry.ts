import type { StoredEvent } from '../../model/event.js';
import { viewEvent } from '../../model/event-view.js';
import { sequenceText } from '../../model/ids.js';
import { redactText } from '../../redaction/redaction.js';
import { countCodePoints, fold, toldText } from '../event-preview.js';

/** One event in the prompt for a summary: one line, `[12] message user: …`. */
export interface SummaryEntry {
  readonly text: string;
  /** Code points. */
  readonly chars: number;
  readonly isCut: boolean;
}

/** How many characters of a text are shown: of its beginning, and of its end. */
interface Share {
  readonly first: number;
  readonly last: number;
}

const MESSAGE: Share = { first: 4000, last: 0 };
const ARGUMENTS: Share = { first: 1000, last: 0 };
// A tool tells what it did in the beginning, and how it ended in the end.
const OUTPUT: Share = { first: 1000, last: 500 };
const EARLIER_SUMMARY: Share = { first: 8000, last: 0 };
const ANYTHING_ELSE: Share = { first: 1000, last: 0 };
const LABEL: Share = { first: 200, last: 0 };

/**
 * Redacted, then cut to what its kind is given, then to the length of an entry in code points (CLI.md, compact).
 * Control characters are shown as escapes, so that no text can begin a line.
 */
export function summaryEntry(event: StoredEvent, mostChars: number): SummaryEntry {
  const { label, text, share } = told(event);
  const names = [event.type, label].filter((name) => name !== '').map(fold);
  const shownNames = names.map((name) => cutTo(name, LABEL));
  const head = [`[${sequenceText(event)}]`, ...shownNames];
  const points = countCodePoints(text);
  let room = Math.min(points, share.first + share.last);
  let line = lineOf(head, cutTo(text, sharesOf(share, room)));
  for (let over = countCodePoints(line) - mostChars; over > 0 && room > 0; over = countCodePoints(line) - mostChars) {
    room = Math.max(0, room - over); // an escape is longer than what it stands for, so this may take more than one step
    line = lineOf(head, cutTo(text, sharesOf(share, room)));
  }
  return {
    text: line,
    chars: countCodePoints(line),
    isCut: room < points || names.some((name, at) => name !== shownNames[at]),
  };
}

/**
 * Leaves out the middle or end of a text that is longer than its share, and says how much. It is redacted already: a
 * cut may not part a secret from what shows that it is one.
 */
export function cutTo(text: string, { first, last }: Share): string {
  if (text.length <= first + last) return text;
  const points = [...text];
  const left = points.length - first - last;
  if (left <= 0) return text;
  const beginning = points.slice(0, first).join('');
  const end = last === 0 ? '' : ` ${points.slice(points.length - last).join('')}`;
  return `${beginning}… (${left} characters left out)${end}`;
}

function sharesOf({ first, last }: Share, room: number): Share {
  const end = Math.min(last, Math.floor((room * last) / (first + last)));
  return { first: room - end, last: end };
}

function lineOf(head: readonly string[], text: string): string {
  return text === '' ? head.join(' ') : `${head.join(' ')}: ${fold(text)}`;
}

function told(event: StoredEvent): { readonly label: string; readonly text: string; readonly share: Share } {
  const view = viewEvent(event);
  switch (view.type) {
    case 'message': {
      const said = [view.content, ...view.answers].filter((part) => part !== '').join('\n');
      if (said === '') break;
      return { label: redactText(view.role), text: redactText(said), share: MESSAGE };
    }
    case 'tool_call':
      return { label: redactText(view.name), text: redactText(view.arguments), share: ARGUMENTS };
    case 'tool_result': {
      const changed = view.changedFiles.length === 0 ? [] : [`changed ${view.changedFiles.join(', ')}`];
      const label = [view.name, view.status, ...changed].filter((part) => part !== '').join(' ');
      return { label: redactText(label), text: redactText(view.output), share: OUTPUT };
    }
    case 'compaction':
      if (view.summary === '') break;
      return { label: '', text: redactText(view.summary), share: EARLIER_SUMMARY };
    case 'checkpoint': {
      const paths = view.files.map(({ path }) => path).join(', ');
      return { label: redactText(view.tool), text: redactText(paths), share: ANYTHING_ELSE };
    }
    default:
      break;
  }
  return { label: '', text: toldText(event), share: ANYTHING_ELSE };
}
