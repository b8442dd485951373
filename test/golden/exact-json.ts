/**
 * JSON with nothing lost: numbers keep their spelling, repeated names stay, members keep their order. A plain parser
 * would round what lies beyond 2^53 and forget all but the last of repeated names (README.md, "Recorded cases").
 */
export type ExactJson = null | boolean | string | ExactNumber | readonly ExactJson[] | ExactObject;

export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class ExactObject {
  readonly members: readonly ExactMember[];
  constructor(members: readonly ExactMember[]) {
    this.members = members;
  }

  /** Gives the value of a member that stands at most once. */
  get(name: string): ExactJson | undefined {
    const found = this.members.filter(([own]) => own === name);
    if (found.length > 1) throw new SyntaxError(`${name} stands twice`);
    return found[0]?.[1];
  }
}

export type ExactMember = readonly [name: string, value: ExactJson];

/**
 * Gives the value that a JSON text holds.
 * @throws SyntaxError when it is anything but exactly one JSON value.
 */
export function parseExact(text: string): ExactJson {
  const parser = new ExactParser(text);
  return parser.parse();
}

/** Gives the value as a plain parser would: numbers are IEEE doubles, of repeated names the last counts. */
export function toPlain(value: ExactJson): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (value instanceof ExactObject) {
    return Object.fromEntries(value.members.map(([name, member]) => [name, toPlain(member)]));
  }
  return isList(value) ? value.map(toPlain) : value;
}

/**
 * Gives a value of the program as exact JSON; bytes are raw JSON text.
 * @throws TypeError for what JSON cannot hold; only `payload` may be there and undefined, as in a stored event.
 */
export function toExact(value: unknown): ExactJson {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return new ExactNumber(String(value));
  if (value instanceof Uint8Array) return parseExact(new TextDecoder('utf-8', { ignoreBOM: true }).decode(value));
  if (Array.isArray(value)) return value.map(toExact);
  if (typeof value !== 'object') throw new TypeError(`a result holds a ${typeof value}`);
  const members = Object.entries(value).filter(([name, member]) => name !== 'payload' || member !== undefined);
  return new ExactObject(members.map(([name, member]) => [name, toExact(member)]));
}

/** Gives the value as compact JSON text, order and spelling of numbers kept. */
export function exactText(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.text;
  if (value instanceof ExactObject) {
    return `{${value.members.map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`).join(',')}}`;
  }
  return isList(value) ? `[${value.map(exactText).join(',')}]` : JSON.stringify(value);
}

/** Gives the value with every text in it, but no name, replaced. */
export function mapTexts(value: ExactJson, replace: (text: string) => string): ExactJson {
  if (typeof value === 'string') return replace(value);
  if (value instanceof ExactObject) {
    return new ExactObject(value.members.map(([name, member]) => [name, mapTexts(member, replace)]));
  }
  return isList(value) ? value.map((item) => mapTexts(item, replace)) : value;
}

export function isList(value: ExactJson): value is readonly ExactJson[] {
  return Array.isArray(value);
}

class ExactParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): ExactJson {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(): ExactJson {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '{') return new ExactObject(this.#sequence('}', () => this.#member()));
    if (first === '[') return this.#sequence(']', () => this.#value());
    if (first === '"') return this.#string();
    return this.#scalar();
  }

  #sequence<T>(close: string, item: () => T): readonly T[] {
    const items: T[] = [];
    this.#at += 1;
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return items;
    }
    for (;;) {
      items.push(item());
      this.#space();
      const next = this.#text[this.#at];
      if (next !== ',' && next !== close) throw this.#unexpected();
      this.#at += 1;
      if (next === close) return items;
    }
  }

  #member(): ExactMember {
    this.#space();
    if (this.#text[this.#at] !== '"') throw this.#unexpected();
    const name = this.#string();
    this.#space();
    if (this.#text[this.#at] !== ':') throw this.#unexpected();
    this.#at += 1;
    return [name, this.#value()];
  }

  #string(): string {
    return JSON.parse(this.#token(/"(?:[^"\\]|\\.)*"/sy)) as string;
  }

  #scalar(): ExactJson {
    const token = this.#token(/-?\d[\d.eE+-]*|true|false|null/y);
    const value = JSON.parse(token) as number | boolean | null; // refuses a malformed number
    return typeof value === 'number' ? new ExactNumber(token) : value;
  }

  #token(form: RegExp): string {
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match === null) throw this.#unexpected();
    this.#at += match[0].length;
    return match[0];
  }

  #space(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'end')) this.#at += 1;
  }

  #unexpected(): SyntaxError {
    const found = this.#text.slice(this.#at, this.#at + 20);
    return new SyntaxError(`unexpected ${JSON.stringify(found)} at ${this.#at}`);
  }
}
