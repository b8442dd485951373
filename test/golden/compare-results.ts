import { type ExactJson, type ExactMember, ExactNumber, ExactObject, exactText, isList } from './exact-json.js';
import type { Tokens } from './tokens.js';

/**
 * Tells where a result is not the recorded one. Numbers are compared as they are spelt. In a payload, which is the bytes
 * of the log, members are compared in their order, repeated names included; elsewhere the order says nothing.
 */
export function resultMismatches(recorded: ExactJson, ours: ExactJson, tokens: Tokens): readonly string[] {
  return differ(recorded, ours, { path: '', ordered: false, tokens });
}

interface Place {
  readonly path: string;
  readonly ordered: boolean;
  readonly tokens: Tokens;
}

function differ(recorded: ExactJson, ours: ExactJson, place: Place): readonly string[] {
  if (recorded instanceof ExactObject && ours instanceof ExactObject) return differInMembers(recorded, ours, place);
  if (isList(recorded) && isList(ours) && recorded.length === ours.length) {
    return recorded.flatMap((item, at) =>
      differ(item, ours[at] as ExactJson, { ...place, path: `${place.path}/${at}` }),
    );
  }
  return sameScalar(recorded, ours, place.tokens) ? [] : [mismatch(place, recorded, ours)];
}

function differInMembers(recorded: ExactObject, ours: ExactObject, place: Place): readonly string[] {
  const [wanted, found] = [membersToCompare(recorded, place), membersToCompare(ours, place)];
  if (wanted.map(([name]) => name).join('\n') !== found.map(([name]) => name).join('\n')) {
    return [mismatch(place, recorded, ours)];
  }
  return wanted.flatMap(([name, value], at) =>
    differ(value, (found[at] as ExactMember)[1], {
      ...place,
      path: `${place.path}/${name}`,
      ordered: place.ordered || name === 'payload',
    }),
  );
}

function membersToCompare(object: ExactObject, { ordered }: Place): readonly ExactMember[] {
  return ordered ? object.members : object.members.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function sameScalar(recorded: ExactJson, ours: ExactJson, tokens: Tokens): boolean {
  if (typeof recorded === 'string' && typeof ours === 'string') return tokens.matches(recorded, ours);
  if (recorded instanceof ExactNumber && ours instanceof ExactNumber) return recorded.text === ours.text;
  return recorded === ours;
}

function mismatch({ path }: Place, recorded: ExactJson, ours: ExactJson): string {
  return `${path}\n  recorded: ${exactText(recorded)}\n  ours:     ${exactText(ours)}`;
}
