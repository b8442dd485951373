import { joinBytes } from './bytes.js';
import { GOAL_MEMBERS, type Goal } from './goal.js';
import { encodeInteger, encodeString, isJson, isNull, parseInteger, type RawJson, rawMemberValues } from './json.js';

/** The kinds that have a name here; absent = a regular conversation. Unknown kinds are kept (FORMAT.md, 2). */
export type SessionKind = 'fork' | 'child' | 'side' | 'spec-draft' | 'spec-impl' | (string & {});
export type SpecStatus = 'draft' | 'approved' | 'rejected' | (string & {});

/** What metadata.json says of a session; members are left out when empty or 0, but for those that are always there. */
export interface SessionMetadata {
  readonly sessionId: string;
  readonly sessionKind?: SessionKind;
  readonly title?: string;
  readonly cwd?: string;
  readonly modelId?: string;
  readonly provider?: string;
  readonly tag?: string;
  readonly depth?: number;
  readonly parentSessionId?: string;
  readonly rootSessionId?: string;
  readonly agentName?: string;
  readonly taskId?: string;
  readonly forkedFromEventId?: string;
  readonly forkedFromSequence?: number;
  readonly spawnedFromEventId?: string;
  readonly spawnedFromSequence?: number;
  readonly specId?: string;
  readonly specFilePath?: string;
  readonly specStatus?: SpecStatus;
  readonly specDraftModelId?: string;
  readonly specDraftReasoning?: string;
  readonly specUserComment?: string;
  readonly specRejectReason?: string;
  readonly specSourceSessionId?: string;
  readonly specImplSessionId?: string;
  readonly goal?: Goal;
  /** RFC 3339 as stored. */
  readonly createdAt: string;
  /** RFC 3339 as stored; the time of the last event. */
  readonly updatedAt: string;
  /** The highest sequence ever used, not a count of lines. */
  readonly eventCount: number;
  readonly lastEventType?: string;
  /** Whole numbers as written, by their names: only those that a number cannot hold. No member of the file. */
  readonly exact?: ExactIntegers;
}

/** The digits of numbers that the nearest number stands for, by the names of their members. */
export type ExactIntegers = Readonly<Record<string, string>>;

type Members = Readonly<Record<string, unknown>>;
type MemberKind = 'text' | 'integer' | 'goal';
type MemberSpec = readonly [name: string, kind: MemberKind, always?: 'always'];

/** The members of metadata.json in the order in which they are written (FORMAT.md, 2). */
const METADATA_MEMBERS: readonly MemberSpec[] = [
  ['sessionId', 'text', 'always'],
  ...texts('sessionKind title cwd modelId provider tag'),
  ['depth', 'integer'],
  ...texts('parentSessionId rootSessionId agentName taskId forkedFromEventId'),
  ['forkedFromSequence', 'integer'],
  ...texts('spawnedFromEventId'),
  ['spawnedFromSequence', 'integer'],
  ...texts('specId specFilePath specStatus specDraftModelId specDraftReasoning specUserComment specRejectReason'),
  ...texts('specSourceSessionId specImplSessionId'),
  ['goal', 'goal'],
  ['createdAt', 'text', 'always'],
  ['updatedAt', 'text', 'always'],
  ['eventCount', 'integer', 'always'],
  ...texts('lastEventType'),
];

function texts(names: string): readonly MemberSpec[] {
  return names.split(' ').map((name) => [name, 'text']);
}

/** metadata.json as it was read: what we understand, and the members that we do not, to be written back. */
export interface MetadataDocument {
  readonly metadata: SessionMetadata;
  /** Unknown members in their order, name and raw value. */
  readonly unknown: ReadonlyMap<string, RawJson>;
  readonly unknownInGoal: ReadonlyMap<string, RawJson>;
}

export class MalformedMetadataError extends Error {}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** Only a regular conversation and a fork can be resumed on their own (FORMAT.md, 2). */
export function isResumableKind(kind: SessionKind | undefined): boolean {
  return kind === undefined || kind === '' || kind === 'fork';
}

/** Where a session says its files are. An imported one names a folder of another machine, perhaps (FORMAT.md, 5). */
export function recordedWorkspace(metadata: Pick<SessionMetadata, 'cwd' | 'tag'> | undefined): string {
  return metadata?.tag?.startsWith('imported:') === true ? '' : (metadata?.cwd ?? '');
}

/**
 * Reads metadata.json, whatever its layout. `null` counts as absent, names are matched exactly (FORMAT.md, 2).
 * @throws {@link MalformedMetadataError} when it is no JSON object or a known member has the wrong type.
 */
export function parseMetadata(bytes: Uint8Array): MetadataDocument {
  if (bytes.length === 0) throw new MalformedMetadataError('is empty');
  if (!isJson(bytes)) throw new MalformedMetadataError('is not JSON');
  const values = rawMemberValues(bytes);
  if (values === undefined) throw new MalformedMetadataError('is JSON, but no object');
  const { known, unknown } = decodeMembers(values, METADATA_MEMBERS);
  const goal = rawMemberValues(values.get('goal') ?? bytes.subarray(0, 0)) ?? new Map<string, RawJson>();
  const unknownInGoal = decodeMembers(goal, GOAL_MEMBERS).unknown;
  return { metadata: known as unknown as SessionMetadata, unknown, unknownInGoal };
}

/** The file for metadata: two-space indent, final newline, known members in order, then the unknown ones. */
export function encodeMetadata({ metadata, unknown, unknownInGoal }: MetadataDocument): Uint8Array {
  const goal = encodeObject([...encodeMembers(metadata.goal ?? {}, GOAL_MEMBERS), ...unknownInGoal], '  ');
  const object = encodeObject([...encodeMembers(metadata, METADATA_MEMBERS, goal), ...unknown], '');
  return joinBytes([object, encoder.encode('\n')]);
}

/** A whole number of metadata, or of a goal, as it is shown: exact, however large. */
export function integerText(record: SessionMetadata | Goal, name: string): string {
  return textOfInteger(record as unknown as Members, name);
}

// Digits stand for a number only as long as it is that number: a count that went on has none.
function textOfInteger(record: Members, name: string): string {
  const value = Number(record[name] ?? 0);
  const digits = (record.exact as ExactIntegers | undefined)?.[name];
  return digits !== undefined && Number(digits) === value ? digits : encodeInteger(value);
}

/** The digits that still stand for a number of a record; nothing where there are none. */
function exactOf(record: Members): { readonly exact?: ExactIntegers } {
  const digits = Object.entries((record.exact ?? {}) as ExactIntegers);
  const exact = digits.filter(([name, text]) => Number(text) === record[name]);
  return exact.length === 0 ? {} : { exact: Object.fromEntries(exact) };
}

/** The members in the order of their specs, without those that are empty or 0. */
export function tidied(record: Members, specs: readonly MemberSpec[]): Members {
  const members = specs.filter(isWritten(record)).map(([name, kind]) => {
    const value = record[name];
    return [name, kind === 'goal' ? tidied(value as Members, GOAL_MEMBERS) : (value ?? '')];
  });
  return { ...Object.fromEntries(members), ...exactOf(record) };
}

function isWritten(record: Members): (spec: MemberSpec) => boolean {
  return ([name, , always]) => always !== undefined || !isEmpty(record[name]);
}

function tidyMetadata(metadata: Members): SessionMetadata {
  return tidied(metadata, METADATA_MEMBERS) as unknown as SessionMetadata;
}

export function changeMetadata(
  document: MetadataDocument,
  changes: { readonly [Name in keyof SessionMetadata]?: SessionMetadata[Name] | undefined },
): MetadataDocument {
  return { ...document, metadata: tidyMetadata({ ...document.metadata, ...changes }) };
}

export function newMetadataDocument(metadata: Members): MetadataDocument {
  return { metadata: tidyMetadata(metadata), unknown: new Map(), unknownInGoal: new Map() };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function decodeMembers(
  values: ReadonlyMap<string, RawJson>,
  specs: readonly MemberSpec[],
): { readonly known: Members; readonly unknown: ReadonlyMap<string, RawJson> } {
  const known: Record<string, unknown> = {};
  const exact: Record<string, string> = {};
  const names = new Set(specs.map(([name]) => name));
  for (const [name, kind, always] of specs) {
    const value = decodeMember(values.get(name), name, kind);
    if (always === undefined && isEmpty(value)) continue;
    known[name] = value ?? (kind === 'integer' ? 0 : '');
    if (kind === 'integer' && !Number.isSafeInteger(known[name])) exact[name] = decoder.decode(values.get(name));
  }
  if (Object.keys(exact).length > 0) known.exact = exact;
  const unknown = [...values]
    .filter(([name]) => !names.has(name))
    .map(([name, raw]) => [name, new Uint8Array(raw) as RawJson] as const);
  return { known, unknown: new Map(unknown) };
}

function decodeMember(raw: RawJson | undefined, name: string, kind: MemberKind): unknown {
  if (raw === undefined || isNull(raw)) return undefined;
  if (kind === 'text') {
    if (raw[0] !== 0x22) throw new MalformedMetadataError(`has a ${name} that is no text`);
    return JSON.parse(decoder.decode(raw));
  }
  if (kind === 'integer') {
    // Zero reads plain integers only: 3.0 would make it drop the session (RELIABILITY.md, 4).
    const integer = parseInteger(decoder.decode(raw));
    if (integer === undefined) throw new MalformedMetadataError(`has a ${name} that is no plain whole number`);
    return integer;
  }
  const members = rawMemberValues(raw);
  if (members === undefined) throw new MalformedMetadataError(`has a ${name} that is no object`);
  return decodeMembers(members, GOAL_MEMBERS).known;
}

type EncodedMember = readonly [name: string, value: Uint8Array];

/** @param goal - The value of a member that is a goal. */
function encodeMembers(
  record: object,
  specs: readonly MemberSpec[],
  goal: Uint8Array = new Uint8Array(),
): EncodedMember[] {
  const values = record as Members;
  return specs.filter(isWritten(values)).map(([name, kind]) => {
    if (kind === 'goal') return [name, goal];
    const text = kind === 'integer' ? textOfInteger(values, name) : encodeString(String(values[name] ?? ''));
    return [name, encoder.encode(text)];
  });
}

function encodeObject(members: readonly EncodedMember[], indent: string): Uint8Array {
  if (members.length === 0) return encoder.encode('{}');
  const lines = members.flatMap(([name, value], at) => [
    encoder.encode(`${at === 0 ? '{' : ','}\n${indent}  ${encodeString(name)}: `),
    value,
  ]);
  return joinBytes([...lines, encoder.encode(`\n${indent}}`)]);
}
