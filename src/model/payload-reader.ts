import { PayloadDamagedError } from '../errors.js';
import { isJson, isNull, parseInteger, type RawJson, rawItems, rawJsonText, rawMemberValues } from './json.js';

const QUOTE = 0x22;
const NO_MEMBERS: ReadonlyMap<string, RawJson> = new Map();

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
 * One object in a payload, read as Zero reads it: `null` counts as nothing, and `2.0` and `2e0` are no whole numbers.
 * What is of another type is damage (`PAYLOAD_DAMAGED`).
 */
export class PayloadReader {
  readonly #members: ReadonlyMap<string, RawJson>;
  readonly #fail: (reason: string) => never;

  constructor(members: ReadonlyMap<string, RawJson>, fail: (reason: string) => never) {
    this.#members = members;
    this.#fail = fail;
  }

  raw(name: string): RawJson | undefined {
    const value = this.#members.get(name);
    return value === undefined || isNull(value) ? undefined : value;
  }

  text(name: string): string {
    const value = this.raw(name);
    if (value === undefined) return '';
    return value[0] === QUOTE ? (JSON.parse(rawJsonText(value)) as string) : this.#fail(`${name} is no text`);
  }

  integer(name: string): number {
    const value = this.raw(name);
    if (value === undefined) return 0;
    return parseInteger(rawJsonText(value)) ?? this.#fail(`${name} is no whole number`);
  }

  flag(name: string): boolean {
    const text = rawJsonText(this.raw(name) ?? new Uint8Array());
    if (text !== '' && text !== 'true' && text !== 'false') this.#fail(`${name} is neither true nor false`);
    return text === 'true';
  }

  records(name: string): readonly PayloadReader[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    const items = rawItems(value) ?? this.#fail(`${name} is no list`);
    return items.map((item) => {
      const members = isNull(item) ? NO_MEMBERS : rawMemberValues(item);
      return new PayloadReader(members ?? this.#fail(`${name} holds something that is no object`), this.#fail);
    });
  }
}
