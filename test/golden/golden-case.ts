import { readFileSync } from 'node:fs';
import { type ExactJson, ExactObject, isList, parseExact, toPlain } from './exact-json.js';

/** A recorded case, checked: what it holds is all known to the runner (README.md, "Members of a case"). */
export interface GoldenCase {
  readonly name: string;
  readonly choices: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workspace: Tree;
  readonly outside: Tree;
  /** Undefined: there is no root at first. */
  readonly store: Tree | undefined;
  readonly tokens: readonly string[];
  readonly steps: readonly Step[];
  readonly storeAfter: Tree;
  readonly workspaceAfter: Tree | undefined;
  readonly outsideAfter: Tree | undefined;
}

export interface Tree {
  readonly files: Readonly<Record<string, Entry>>;
  readonly dirs: Readonly<Record<string, number>>;
}

/** A file: its content, or the target of the link that it is. */
export type Entry = { readonly mode: number | undefined } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly target: string }
);

export interface Step {
  readonly at: Date;
  readonly op: string;
  readonly args: ExactObject;
  readonly result: ExactJson;
  readonly error: string | undefined;
}

const KNOWN_CHOICES = ['sequence-reuse', 'dropped-for-good', 'torn-tail-bytes', 'tie-by-id'];
const KNOWN_VARIABLES = ['ZERO_CHECKPOINTS', 'ZERO_CHECKPOINT_MAX_BYTES', 'XDG_DATA_HOME', 'HOME'];
export const ERROR_KINDS = [
  'invalid_session_id',
  'not_found',
  'already_exists',
  'invalid_argument',
  'conflict',
  'corrupt_log',
  'corrupt_metadata',
  'corrupt_payload',
  'cycle',
  'io',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** Reads a case as it stands in its file. */
export function readCaseFile(path: string): ExactObject {
  return recordOf(parseExact(readFileSync(path, 'utf8')), path);
}

/**
 * Gives the case that a file holds.
 * @throws Error for any member, choice, variable or error kind that the runner would pass over.
 */
export function parseCase(json: ExactObject): GoldenCase {
  const members = [
    ...['name', 'about', 'choices', 'env', 'workspace', 'outside', 'store', 'generatedIds', 'steps'],
    ...['storeAfter', 'workspaceAfter', 'outsideAfter'],
  ];
  refuseUnknown(json, members, 'the case');
  const tree = (name: string): Tree | undefined => {
    const value = json.get(name);
    return value === undefined ? undefined : parseTree(recordOf(value, name), name);
  };
  const storeAfter = tree('storeAfter');
  if (storeAfter === undefined) throw new Error('the case has no storeAfter');
  return {
    name: textOf(json.get('name'), 'name'),
    choices: listOf(json.get('choices') ?? [], 'choices').map((choice) => oneOf(choice, KNOWN_CHOICES, 'choice')),
    env: parseEnv(json.get('env')),
    workspace: tree('workspace') ?? { files: {}, dirs: {} },
    outside: tree('outside') ?? { files: {}, dirs: {} },
    store: tree('store'),
    tokens: listOf(json.get('generatedIds') ?? [], 'generatedIds').map(parseGeneratedId),
    steps: listOf(json.get('steps') ?? null, 'steps').map(parseStep),
    storeAfter,
    workspaceAfter: tree('workspaceAfter'),
    outsideAfter: tree('outsideAfter'),
  };
}

/** Gives the entry that a tree or an `fs.write` holds; `others` are members that do not belong to it. */
export function parseEntry(json: ExactObject, where: string, others: readonly string[] = []): Entry {
  refuseUnknown(json, ['text', 'base64', 'symlink', 'mode', ...others], where);
  const mode = json.get('mode');
  const forms = ['text', 'base64', 'symlink'].filter((form) => json.get(form) !== undefined);
  if (forms.length !== 1) throw new Error(`${where} has ${forms.length} of text, base64 and symlink`);
  const common = { mode: mode === undefined ? undefined : parseMode(mode, where) };
  const content = textOf(json.get(forms[0] as string), where);
  if (forms[0] === 'text') return { ...common, kind: 'text', text: content };
  if (forms[0] === 'base64') return { ...common, kind: 'bytes', bytes: Buffer.from(content, 'base64') };
  if (mode !== undefined) throw new Error(`${where} is a link with a mode`);
  return { ...common, kind: 'link', target: content };
}

/** Fails for a member that is not among the known ones, or stands twice. */
export function refuseUnknown(json: ExactObject, known: readonly string[], where: string): void {
  const seen = new Set<string>();
  for (const [name] of json.members) {
    if (!known.includes(name)) throw new Error(`${where} has an unknown member: ${name}`);
    if (seen.has(name)) throw new Error(`${where} has a member twice: ${name}`);
    seen.add(name);
  }
}

export function recordOf(value: ExactJson | undefined, where: string): ExactObject {
  if (!(value instanceof ExactObject)) throw new Error(`${where} is no object`);
  return value;
}

export function listOf(value: ExactJson, where: string): readonly ExactJson[] {
  if (!isList(value)) throw new Error(`${where} is no list`);
  return value;
}

export function textOf(value: ExactJson | undefined, where: string): string {
  if (typeof value !== 'string') throw new Error(`${where} is no text`);
  return value;
}

function parseTree(json: ExactObject, where: string): Tree {
  refuseUnknown(json, ['files', 'dirs'], where);
  const files = recordOf(json.get('files') ?? new ExactObject([]), `${where}.files`);
  const dirs = recordOf(json.get('dirs') ?? new ExactObject([]), `${where}.dirs`);
  return {
    files: Object.fromEntries(
      files.members.map(([path, entry]) => [path, parseEntry(recordOf(entry, path), `${where}: ${path}`)]),
    ),
    dirs: Object.fromEntries(dirs.members.map(([path, mode]) => [path, parseMode(mode, `${where}: ${path}`)])),
  };
}

function parseStep(json: ExactJson, at: number): Step {
  const where = `step ${at}`;
  const step = recordOf(json, where);
  refuseUnknown(step, ['at', 'op', 'args', 'result', 'error'], where);
  const time = new Date(textOf(step.get('at'), `${where}: at`));
  if (Number.isNaN(time.getTime())) throw new Error(`${where}: at is no time`);
  const result = step.get('result');
  const error = step.get('error');
  if (result === undefined || error === undefined) throw new Error(`${where} has no result or no error`);
  if (error !== null && result !== null) throw new Error(`${where} has a result and an error`);
  return {
    at: time,
    op: textOf(step.get('op'), `${where}: op`),
    args: recordOf(step.get('args') ?? new ExactObject([]), `${where}: args`),
    result,
    error: error === null ? undefined : parseErrorKind(error, where),
  };
}

function parseErrorKind(json: ExactJson, where: string): string {
  const error = recordOf(json, `${where}: error`);
  refuseUnknown(error, ['kind'], `${where}: error`);
  return oneOf(error.get('kind') ?? null, ERROR_KINDS, 'error kind');
}

function parseEnv(json: ExactJson | undefined): Readonly<Record<string, string>> {
  const env = recordOf(json ?? new ExactObject([]), 'env');
  refuseUnknown(env, KNOWN_VARIABLES, 'env');
  return toPlain(env) as Readonly<Record<string, string>>;
}

// The pattern is that of Zero's own ids; ours have a form of their own (DIFFERENCES.md, rule 6).
function parseGeneratedId(json: ExactJson): string {
  const generated = recordOf(json, 'generatedIds');
  refuseUnknown(generated, ['token', 'pattern'], 'generatedIds');
  return textOf(generated.get('token'), 'token');
}

function parseMode(json: ExactJson, where: string): number {
  const digits = textOf(json, `${where}: mode`);
  if (!/^[0-7]{4}$/.test(digits)) throw new Error(`${where}: ${digits} is no mode`);
  return Number.parseInt(digits, 8);
}

function oneOf(value: ExactJson, known: readonly string[], what: string): string {
  const text = textOf(value, what);
  if (!known.includes(text)) throw new Error(`unknown ${what}: ${text}`);
  return text;
}
