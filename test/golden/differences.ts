import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ExactJson, ExactObject, exactText, isList, parseExact } from './exact-json.js';
import { listOf, recordOf, refuseUnknown, textOf } from './golden-case.js';

/**
 * A case that we answer in our own way, beside the case itself: `differences/<group>/<name>.json`.
 *
 * `{"case", "rule", "changes": [{"at", "line"?, "recorded"?, "ours"?, "reason"}]}`. `at` is a JSON Pointer (RFC 6901) to a
 * member of the recorded case; with `line` (from 1) it is that line of the text there. Without `recorded` the member is
 * not in the case, without `ours` it is not in our answer.
 */
export interface Difference {
  readonly case: string;
  readonly rule: string;
  readonly changes: readonly Change[];
}

interface Change {
  readonly at: readonly string[];
  readonly line: number | undefined;
  readonly recorded: ExactJson | undefined;
  readonly ours: ExactJson | undefined;
}

/** Gives the names of the cases in a folder of differences, sorted. */
export function differenceNames(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .map((path) => path.slice(0, -'.json'.length))
    .sort();
}

/** Gives our own answer to a case, or undefined when there is none. */
export function readDifference(folder: string, name: string): Difference | undefined {
  const path = join(folder, `${name}.json`);
  if (!existsSync(path)) return undefined;
  const json = recordOf(parseExact(readFileSync(path, 'utf8')), path);
  refuseUnknown(json, ['case', 'rule', 'changes'], path);
  if (json.get('case') !== name) throw new Error(`${path} is not about ${name}`);
  const changes = listOf(json.get('changes') ?? [], path).map((change) => parseChange(recordOf(change, path), path));
  if (changes.length === 0) throw new Error(`${path} changes nothing`);
  return { case: name, rule: textOf(json.get('rule'), 'rule'), changes };
}

/**
 * Gives the case with our own answer in it.
 * @throws Error when what a change says is recorded is not what the case has.
 */
export function applyDifference(recorded: ExactObject, difference: Difference): ExactObject {
  return difference.changes.reduce<ExactJson>(
    (json, change) => applyChange(json, change.at, change),
    recorded,
  ) as ExactObject;
}

function parseChange(json: ExactObject, where: string): Change {
  refuseUnknown(json, ['at', 'line', 'recorded', 'ours', 'reason'], where);
  if (textOf(json.get('reason'), 'reason').trim() === '') throw new Error(`${where} has a change without reason`);
  const line = json.get('line');
  const [recorded, ours] = [json.get('recorded'), json.get('ours')];
  if (same(recorded, ours)) throw new Error(`${where} has a change that changes nothing`);
  return {
    at: textOf(json.get('at'), 'at')
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
    line: line === undefined ? undefined : Number(exactText(line)),
    recorded,
    ours,
  };
}

function applyChange(json: ExactJson | undefined, at: readonly string[], change: Change): ExactJson {
  const [name, ...rest] = at;
  if (name === undefined) throw new Error('a change needs a member to change');
  if (json instanceof ExactObject) return changedObject(json, name, rest, change);
  if (json !== undefined && isList(json)) return changedList(json, Number(name), rest, change);
  throw new Error(`the case has nothing at ${change.at.join('/')}`);
}

function changedObject(json: ExactObject, name: string, rest: readonly string[], change: Change): ExactObject {
  const value = changedValue(json.get(name), rest, change);
  const others = json.members.filter(([own]) => own !== name);
  if (value === undefined) return new ExactObject(others);
  if (others.length === json.members.length) return new ExactObject([...others, [name, value]]);
  return new ExactObject(json.members.map((member) => (member[0] === name ? [name, value] : member)));
}

function changedList(json: readonly ExactJson[], at: number, rest: readonly string[], change: Change): ExactJson {
  const value = changedValue(json[at], rest, change);
  if (at > json.length || !Number.isInteger(at)) throw new Error(`the case has no ${change.at.join('/')}`);
  return value === undefined ? json.toSpliced(at, 1) : json.toSpliced(at, 1, value);
}

function changedValue(value: ExactJson | undefined, rest: readonly string[], change: Change): ExactJson | undefined {
  if (rest.length > 0) return applyChange(value, rest, change);
  if (change.line !== undefined) return changedLine(textOf(value, change.at.join('/')), change.line, change);
  if (!same(value, change.recorded)) throw notAsRecorded(change, value);
  return change.ours;
}

function changedLine(text: string, line: number, change: Change): string {
  const lines = text.split('\n');
  const found = lines[line - 1];
  if (!same(found, change.recorded)) throw notAsRecorded(change, found);
  if (typeof change.ours !== 'string') throw new Error(`${change.at.join('/')}: our line is no text`);
  return lines.toSpliced(line - 1, 1, change.ours).join('\n');
}

function same(a: ExactJson | undefined, b: ExactJson | undefined): boolean {
  return a === undefined || b === undefined ? a === b : exactText(a) === exactText(b);
}

function notAsRecorded({ at }: Change, found: ExactJson | undefined): Error {
  return new Error(`the case has ${found === undefined ? 'nothing' : exactText(found)} at ${at.join('/')}`);
}
