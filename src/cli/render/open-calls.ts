import type { OpenCall } from '../../plan/rewind/whole-positions.js';
import { grouped } from './numbers.js';

// Enough to see what is meant.
const NAMED = 3;

/**
 * Gives the note on calls that a cut leaves without their results: who they are, and where nothing would be parted.
 * @param position - The last event that stays.
 */
export function openCallNotes(
  position: number,
  {
    openCalls,
    whole,
  }: { readonly openCalls: readonly OpenCall[]; readonly whole: { readonly before: number; readonly after: number } },
): readonly string[] {
  if (openCalls.length === 0) return [];
  const named = openCalls
    .slice(0, NAMED)
    .map(({ sequence, name }) => `${name === '' ? 'a call' : name} (event ${sequence})`);
  const more = openCalls.length - NAMED;
  const calls = more > 0 ? `${named.join(', ')} and ${grouped(more)} more` : named.join(' and ');
  const before = whole.before === 0 ? '0, before the first event,' : `event ${whole.before}`;
  return [
    `Event ${position} is inside a turn: ${calls} ${openCalls.length === 1 ? 'has' : 'have'} no result there. ` +
      `Nothing is parted at ${before} (--whole-turns goes there) and at event ${whole.after}.`,
  ];
}
