import { isJsonText } from '../model/json.js';
import { skip, wordSet } from './characters.js';
import { isSecretName } from './names.js';
import { type DecodedText, decodeJsonString, inWrittenText, REDACTED, type Replacement } from './replacement.js';
import { isPlaceholder } from './values.js';

type JudgeText = (text: string) => readonly Replacement[];

/** What secret-named keys hold, and what `judge` finds in any other string, as decoded; undefined without JSON. */
export function secretsInJson(json: string, judge: JudgeText): Replacement[] | undefined {
  if (!isJsonText(json)) return undefined;
  return new JsonWalk(json, judge).secrets();
}

/** An object or array that is open at some point of the text. */
interface Container {
  readonly isObject: boolean;
  readonly hidden: boolean;
  /** Whether a member called `name` or `key` named a secret: then `value` is one. In an array, a flag before. */
  namesSecret: boolean;
}

// What is said about a secret and not the secret itself, as in a JSON schema or a list of accounts.
const DESCRIPTIVE = wordSet(
  'type kind title description format name label id in env status provider host hostname domain port url uri path ' +
    'file user username email account scope scopes required enum pattern $ref algorithm created_at updated_at',
);

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** One walk over a valid JSON text, with its own stack: a payload may be thousands of levels deep. */
class JsonWalk {
  readonly #json: string;
  readonly #judge: JudgeText;
  readonly #found: Replacement[] = [];
  readonly #open: Container[] = [];
  #key = '';
  #keyComes = false;

  constructor(json: string, judge: JudgeText) {
    this.#json = json;
    this.#judge = judge;
  }

  secrets(): Replacement[] {
    const json = this.#json;
    for (let at = 0; at < json.length; ) {
      const code = json.charCodeAt(at);
      if (code === QUOTE) at = this.#string(at);
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) at = this.#container(at, code === OPEN_OBJECT);
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || code === COMMA) at = this.#next(at, code);
      else if (code === COLON || code <= 32) at += 1;
      else at = this.#word(at);
    }
    return this.#found;
  }

  #container(at: number, isObject: boolean): number {
    const inside = this.#open.at(-1);
    this.#open.push({ isObject, hidden: this.#holdsSecret(inside), namesSecret: false });
    this.#keyComes = isObject;
    return at + 1;
  }

  /** Behind a value: a comma stays in the container, anything else closes it. */
  #next(at: number, code: number): number {
    if (code !== COMMA) this.#open.pop();
    this.#keyComes = code === COMMA && this.#open.at(-1)?.isObject === true;
    return at + 1;
  }

  #string(at: number): number {
    const end = stringEnd(this.#json, at + 1);
    const decoded = decodeJsonString(this.#json, at + 1, end);
    const inside = this.#open.at(-1);
    if (this.#keyComes) {
      this.#key = decoded.text;
      this.#keyComes = false;
      this.#report(this.#judge(decoded.text), decoded);
    } else if (this.#holdsSecret(inside)) {
      if (inside?.isObject === false) inside.namesSecret = false;
      const whole = { start: 0, end: decoded.text.length, by: REDACTED };
      this.#report(isPlaceholder(decoded.text) ? [] : [whole], decoded);
    } else {
      if (inside !== undefined) this.#noteName(inside, decoded.text);
      this.#report(this.#judge(decoded.text), decoded);
    }
    return end + 1;
  }

  /** A number, or true, false or null, which hide nothing. */
  #word(at: number): number {
    const end = skip(this.#json, at + 1, isWordCode);
    const inside = this.#open.at(-1);
    const isNumber = this.#json.charCodeAt(at) < 58;
    const isSecret = inside?.isObject === true ? this.#namesSecret(inside) : inside?.hidden === true;
    if (isNumber && isSecret) this.#found.push({ start: at, end, by: `"${REDACTED}"` });
    return end;
  }

  /** Arguments of a command (`["--password", "…"]`) and lists of headers name a secret in the string before it. */
  #noteName(inside: Container, text: string): void {
    if (!inside.isObject) inside.namesSecret = text.startsWith('--') && !text.includes(' ') && isSecretName(text);
    else if (this.#key === 'name' || this.#key === 'key') inside.namesSecret = isSecretName(text);
  }

  #report(replacements: readonly Replacement[], decoded: DecodedText): void {
    for (const replacement of inWrittenText(replacements, decoded)) this.#found.push(replacement);
  }

  /** Whether what comes next in a container, in an object the value of the key just read, is secret as a whole. */
  #holdsSecret(inside: Container | undefined): boolean {
    if (inside === undefined) return false;
    if (!inside.isObject) return inside.hidden || inside.namesSecret;
    return this.#namesSecret(inside) || (inside.hidden && !DESCRIPTIVE.has(this.#key.toLowerCase()));
  }

  #namesSecret(inside: Container): boolean {
    return isSecretName(this.#key) || (inside.namesSecret && this.#key === 'value');
  }
}

function isWordCode(code: number): boolean {
  return code > 32 && code !== COMMA && code !== CLOSE_ARRAY && code !== CLOSE_OBJECT;
}

function stringEnd(json: string, from: number): number {
  let at = from;
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
