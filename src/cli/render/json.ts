import { replaceNotDrawn } from './safe-text.js';

/** What a document of ours can hold. A `Uint8Array` is JSON text as it was stored: it goes out byte for byte. */
export type JsonView =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly JsonView[]
  | { readonly [name: string]: JsonView | undefined };

/** The members of a document, in the order they are printed; one that is undefined is left out. */
export type JsonMembers = { readonly [name: string]: JsonView | undefined };

/** The version of every document that the command line prints (CLI.md, "JSON"). */
export const SCHEMA_VERSION = 1;

/** Takes what a document is made of, in order. An `Output` is one. */
interface JsonSink {
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * Gives a document: `schemaVersion` and the members, indented by two spaces, as UTF-8 that ends in a newline.
 *
 * In strings of ours, characters that a terminal would obey or not draw are escaped; raw JSON stays as it is, on its
 * one line. What is nested very deeply stands on one line too.
 */
export function renderJsonDocument(members: JsonMembers): Uint8Array {
  return renderJsonValue({ schemaVersion: SCHEMA_VERSION, ...members });
}

/** As {@link renderJsonDocument}, without the envelope: for what prints a format of its own. */
export function renderJsonValue(value: JsonView): Uint8Array {
  const pieces = new Pieces();
  print(value, '\n', pieces);
  pieces.text('\n');
  return pieces.joined();
}

/** Gives one value on one line, as UTF-8 that ends in a newline. */
export function renderJsonLine(value: JsonView): Uint8Array {
  const pieces = new Pieces();
  print(value, undefined, pieces);
  pieces.text('\n');
  return pieces.joined();
}

/** Lines of `--jsonl` on their way out. */
interface JsonLines {
  /** Adds a value as a line. Resolves when the sink can take more. */
  item(value: JsonView): Promise<void>;
  /** Hands over all that is left: at the end, and whenever a reader should see what there is. */
  flush(): Promise<void>;
}

/** Prints values one a line, as {@link renderJsonLine} does; nothing is handed over before there is enough of it. */
export function openJsonLines(sink: JsonSink): JsonLines {
  const pieces = new Pieces();
  return {
    async item(value) {
      print(value, undefined, pieces);
      pieces.text('\n');
      if (pieces.size >= FLUSH_BYTES) await pieces.handTo(sink);
    },
    flush: () => pieces.handTo(sink),
  };
}

/** A document that is being printed: the elements of its array, then what follows them. */
interface OpenJsonDocument {
  /** Adds an element to the array. Resolves when the sink can take more. */
  item(value: JsonView): Promise<void>;
  /** Ends the array and the document with these members, and hands over all that is left. */
  close(trailing: JsonMembers): Promise<void>;
}

/**
 * Begins a document with a long array, of which only a part is ever in memory.
 *
 * Prints what {@link renderJsonDocument} would for `{...leading, [name]: items, ...trailing}`. Nothing is handed over
 * before there is enough of it, or the document is closed.
 */
export function openJsonDocument(sink: JsonSink, leading: JsonMembers, name: string): OpenJsonDocument {
  const pieces = new Pieces();
  const member = `\n${INDENT}`;
  const element = member + INDENT;
  let isEmpty = true;
  pieces.text(`{${member}"schemaVersion": ${SCHEMA_VERSION}`);
  const addMembers = (members: JsonMembers) => {
    for (const [key, value] of valuesOf(members)) {
      pieces.text(`,${member}${quote(key)}: `);
      print(value, member, pieces);
    }
  };
  addMembers(leading);
  pieces.text(`,${member}${quote(name)}: [`);
  return {
    async item(value) {
      pieces.text(isEmpty ? element : `,${element}`);
      isEmpty = false;
      print(value, element, pieces);
      if (pieces.size >= FLUSH_BYTES) await pieces.handTo(sink);
    },
    async close(trailing) {
      pieces.text(isEmpty ? ']' : `${member}]`);
      addMembers(trailing);
      pieces.text('\n}\n');
      await pieces.handTo(sink);
    },
  };
}

const INDENT = '  ';
// Indenting 5,000 levels would take a gigabyte, and the engine's own printer runs out of stack before that.
const MAX_LEVELS = 32;
// Small parts are gathered: a system call for each would be most of the work.
const FLUSH_BYTES = 64 * 1024;

/** A list or an object that is being printed. */
interface Frame {
  readonly entries: readonly (readonly [name: string | undefined, value: JsonView])[];
  readonly newline: string | undefined;
  readonly end: ']' | '}';
  at: number;
}

/** Prints a value; `newline` is a line break with the indent of its last line, undefined for all on one line. */
function print(root: JsonView, newline: string | undefined, pieces: Pieces): void {
  const open: Frame[] = [];
  begin(root, newline, open, pieces);
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const entry = frame.entries[frame.at];
    if (entry === undefined) {
      pieces.text((frame.at === 0 ? '' : (frame.newline ?? '')) + frame.end);
      open.pop();
      continue;
    }
    const [name, value] = entry;
    const isDeep = frame.newline === undefined || frame.newline.length > MAX_LEVELS * INDENT.length;
    const inner = isDeep ? undefined : frame.newline + INDENT;
    const label = name === undefined ? '' : quote(name) + (frame.newline === undefined ? ':' : ': ');
    pieces.text((frame.at === 0 ? '' : ',') + (inner ?? frame.newline ?? '') + label);
    frame.at += 1;
    begin(value, inner, open, pieces);
  }
}

/** Prints a value whole, or opens a list or object that has raw JSON in it or is deep. */
function begin(value: JsonView, newline: string | undefined, open: Frame[], pieces: Pieces): void {
  if (typeof value === 'string') pieces.text(quote(value));
  else if (value instanceof Uint8Array) pieces.raw(value);
  else if (isForEngine(value, MAX_LEVELS)) pieces.text(engineJson(value, newline));
  else if (isList(value)) {
    pieces.text('[');
    open.push({ entries: value.map((item) => [undefined, item]), newline, end: ']', at: 0 });
  } else {
    pieces.text('{');
    open.push({ entries: valuesOf(value), newline, end: '}', at: 0 });
  }
}

type Plain = null | boolean | number | string;

/** Tells whether the engine can print a value, seven times as fast as we: no raw JSON in it, and not deep. */
function isForEngine(value: JsonView, levels: number): value is Plain {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0 || value instanceof Uint8Array) return false;
  for (const inner of isList(value) ? value : Object.values(value)) {
    if (typeof inner === 'object' && !isForEngine(inner, levels - 1)) return false;
  }
  return true;
}

function engineJson(value: Plain, newline: string | undefined): string {
  if (newline === undefined) return shown(JSON.stringify(value));
  const json = shown(JSON.stringify(value, null, INDENT));
  return newline === '\n' ? json : json.replaceAll('\n', newline);
}

function valuesOf(members: JsonMembers): [string, JsonView][] {
  return Object.entries(members).filter((entry): entry is [string, JsonView] => entry[1] !== undefined);
}

// Array.isArray does not narrow a readonly array out of a union.
function isList(value: readonly JsonView[] | JsonMembers): value is readonly JsonView[] {
  return Array.isArray(value);
}

const PLAIN_STRING = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
// Newlines are between tokens: those of a string are escaped already.
const NEEDS_LOOK = /[^\x20-\x7e\n]/;

function quote(text: string): string {
  return PLAIN_STRING.test(text) ? `"${text}"` : shown(JSON.stringify(text));
}

/** Gives JSON with characters that a terminal would not draw escaped: the same value to any reader. */
function shown(json: string): string {
  return NEEDS_LOOK.test(json) ? replaceNotDrawn(json, escapeInString) : json;
}

function escapeInString(codePoint: number): string {
  if (codePoint === 0x0a) return '\n';
  const units = Array.from(String.fromCodePoint(codePoint).split(''), (unit) => unit.charCodeAt(0));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Gathers text and raw bytes in order; what is large is handed on without a copy. */
class Pieces {
  #text = '';
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** How much is gathered, about: text counts its code units. */
  get size(): number {
    return this.#bytes + this.#text.length;
  }

  text(text: string): void {
    this.#text += text;
  }

  raw(bytes: Uint8Array): void {
    this.#seal();
    this.#add(bytes);
  }

  /** Gives all of it as one. */
  joined(): Uint8Array {
    const parts = this.#take();
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
  }

  /** Hands all of it over. */
  async handTo(sink: JsonSink): Promise<void> {
    if (this.size === 0) return;
    if (this.size < 4 * FLUSH_BYTES) return sink.write(this.joined());
    for (const part of this.#take()) await sink.write(part);
  }

  #take(): Uint8Array[] {
    this.#seal();
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    return parts;
  }

  #seal(): void {
    if (this.#text === '') return;
    this.#add(Buffer.from(this.#text));
    this.#text = '';
  }

  #add(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }
}
