import type { SessionMetadata } from '../model/metadata.js';

const MOST_CANDIDATES = 5;
/** Longer texts are compared by their beginning: a title can be as long as it likes, and there are many of them. */
const COMPARED_CHARS = 64;
/** A shorter name is part of too many others to say anything. */
const TELLING_CHARS = 3;

/** The ids of at most five sessions that come close to a name: other case, a part, a slip or two in id or title. */
export function closestTo(
  name: string,
  known: {
    readonly sessions: readonly SessionMetadata[];
    readonly unreadable: readonly { readonly sessionId: string }[];
  },
): readonly string[] {
  const wanted = comparable(name);
  if (wanted === '') return [];
  const ranked: { readonly id: string; readonly distance: number }[] = [];
  for (const { sessionId, title } of [...known.sessions, ...known.unreadable] as readonly Partial<SessionMetadata>[]) {
    const id = sessionId as string;
    if (id === name) return [];
    const distance = Math.min(
      distanceTo(wanted, comparable(id)),
      distanceTo(wanted, comparable(id).slice(0, wanted.length)) + 1,
      title === undefined ? Number.POSITIVE_INFINITY : distanceTo(wanted, comparable(title)),
    );
    if (distance < Number.POSITIVE_INFINITY) ranked.push({ id, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance);
  return ranked.slice(0, MOST_CANDIDATES).map(({ id }) => id);
}

function comparable(text: string): string {
  return text.slice(0, COMPARED_CHARS).toLowerCase();
}

/** 0 for the same, 1 for a part, more for slips, and infinity for what is not close. */
function distanceTo(wanted: string, text: string): number {
  if (wanted === text) return 0;
  if (wanted.length >= TELLING_CHARS && text.includes(wanted)) return 1;
  const limit = Math.min(3, Math.floor(wanted.length / TELLING_CHARS));
  if (Math.abs(wanted.length - text.length) > limit) return Number.POSITIVE_INFINITY;
  const slips = slipsBetween(wanted, text);
  return slips <= limit ? 1 + slips : Number.POSITIVE_INFINITY;
}

/** How many characters have to be put in, taken out, changed or swapped with the next. */
function slipsBetween(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min(
        (previous[column - 1] as number) + change,
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, (beforePrevious[column - 2] as number) + 1);
      }
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] as number;
}
