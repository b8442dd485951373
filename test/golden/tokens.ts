/** A ULID: 26 digits of Crockford's base 32, the first not above 7 (DIFFERENCES.md, rule 6). */
const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const TOKEN = /\$(?:ROOT|WORKSPACE|OUTSIDE|GEN\d+)/g;

/** Tells whether a text is a ULID. */
export function isUlid(text: string): boolean {
  return new RegExp(`^${ULID}$`).test(text);
}

/** What the tokens of a case stand for: paths from the start, generated ids from the first result that has them. */
export class Tokens {
  readonly #values: Map<string, string>;
  readonly #generated: readonly string[];

  constructor(paths: Readonly<Record<string, string>>, generated: readonly string[]) {
    this.#values = new Map(Object.entries(paths));
    this.#generated = generated;
  }

  /** Gives a text with what its tokens stand for. */
  resolve(text: string): string {
    return text.replace(TOKEN, (token) => {
      const value = this.#values.get(token);
      if (value === undefined) throw new Error(`${token} stands for nothing yet`);
      return value;
    });
  }

  /** As {@link resolve}; a token that stands for nothing stays. */
  resolveKnown(text: string): string {
    return text.replace(TOKEN, (token) => this.#values.get(token) ?? token);
  }

  /** Tells whether a recorded text is ours; an id that is new in it is what its token stands for from now on. */
  matches(recorded: string, ours: string): boolean {
    this.#learn(recorded, ours);
    return this.resolveKnown(recorded) === ours;
  }

  /** Gives the tokens that no result had an id for. */
  unbound(): readonly string[] {
    return this.#generated.filter((token) => !this.#values.has(token));
  }

  #learn(recorded: string, ours: string): void {
    const token = recorded.match(TOKEN)?.find((found) => this.#generated.includes(found) && !this.#values.has(found));
    if (token === undefined) return;
    const [before = '', after = ''] = recorded.split(token, 2).map((part) => literal(this.resolveKnown(part)));
    const id = new RegExp(`^${before}(${ULID})${after}`).exec(ours)?.[1];
    if (id !== undefined && ![...this.#values.values()].includes(id)) this.#values.set(token, id);
  }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
