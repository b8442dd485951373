import { PayloadDamagedError } from '../errors.js';
import { isJson, parseInteger, type RawJson, rawItems, rawJsonText, rawMemberValues } from './json.js';

const NULL = 0x6e;
const QUOTE = 0x22;
const NO_MEMBERS: ReadonlyMap<string, RawJson> = new Map();

/**
 * Reads the payload of an event as one JSON object.
 * @throws {@link PayloadDamagedError} (`PAYLOAD_DAMAGED`) when there is no payload, or it is something else.
 */
export function readPayload(
  { id, payload }: { readonly id: string; readonly payload: RawJson | undefined },
  type: string,
): PayloadReader {
  const fail = (reason: string): never => {
    throw new PayloadDamagedError(id, type, reason);
  };
  const members = payload !== undefined && isJson(payload) ? rawMemberValues(payload) : undefined;
  return members === undefined ? fail('the payload is no object') : new PayloadReader(members, fail);
}

/**
 * The members of one object in a payload, read as Zero reads them: `null` counts as nothing, wherever it stands, and a
 * number is whole only if it is written so: `2.0` and `2e0` are not, nor is what has no room in 64 bits.
 *
 * What is of another type is damage (`PAYLOAD_DAMAGED`).
 */
export class PayloadReader {
  readonly #members: ReadonlyMap<string, RawJson>;
  readonly #fail: (reason: string) => never;

  constructor(members: ReadonlyMap<string, RawJson>, fail: (reason: string) => never) {
    this.#members = members;
    this.#fail = fail;
  }

  /** Gives a value as it stands, or undefined for none. */
  raw(name: string): RawJson | undefined {
    const value = this.#members.get(name);
    return value === undefined || value[0] === NULL ? undefined : value;
  }

  /** Gives a text; empty for none. */
  text(name: string): string {
    const value = this.raw(name);
    if (value === undefined) return '';
    return value[0] === QUOTE ? (JSON.parse(rawJsonText(value)) as string) : this.#fail(`${name} is no text`);
  }

  /** Gives a whole number; 0 for none. */
  integer(name: string): number {
    const value = this.raw(name);
    if (value === undefined) return 0;
    return parseInteger(rawJsonText(value)) ?? this.#fail(`${name} is no whole number`);
  }

  /** Gives true or false; false for none. */
  flag(name: string): boolean {
    const text = rawJsonText(this.raw(name) ?? new Uint8Array());
    if (text !== '' && text !== 'true' && text !== 'false') this.#fail(`${name} is neither true nor false`);
    return text === 'true';
  }

  /** Gives the objects of a list; none where there is no list. */
  records(name: string): readonly PayloadReader[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    const items = rawItems(value) ?? this.#fail(`${name} is no list`);
    return items.map((item) => {
      const members = item[0] === NULL ? NO_MEMBERS : rawMemberValues(item);
      return new PayloadReader(members ?? this.#fail(`${name} holds something that is no object`), this.#fail);
    });
  }
}
