import { joinBytes } from '../model/bytes.js';
import { type Replacement, replaceIn } from './replacement.js';
import { secretsInJson } from './secrets-in-json.js';
import { secretsInText } from './secrets-in-text.js';

/**
 * Shows every secret that is found as `[REDACTED]`; all other characters stay (FORMAT.md, 7). Time is linear.
 *
 * Hidden are values of secret-named keys (JSON, `key=value`, headers, flags, URL queries), passwords in URLs, private
 * keys, and tokens of a known form. A text that is JSON is treated as {@link redactJson} does.
 */
export function redactText(text: string): string {
  return settle(text, (now) => secretsIn(now, 0), replaceIn);
}

/**
 * Hides the secrets in the strings of a JSON text, which otherwise stays byte for byte, and valid (FORMAT.md, 7).
 *
 * Strings are judged as decoded, and so is JSON inside them. Under a secret-named key strings and numbers become
 * `"[REDACTED]"`; true, false and null stay. A text that is no JSON is redacted as text.
 */
export function redactJson(json: string): string {
  return settle(json, secretsInPayload, replaceIn);
}

/** As {@link redactJson}, for bytes, perhaps not UTF-8. The same array comes back where there is nothing to hide. */
export function redactJsonBytes(json: Uint8Array): Uint8Array {
  // One character for each byte. All that the scanners ask of a byte over 0x7f is that it is one.
  return settle(json, (now) => secretsInPayload(byteDecoder.decode(now)), replaceInBytes);
}

const byteDecoder = new TextDecoder('latin1');
const encoder = new TextEncoder();

// What is hidden changes what stands beside it: `a=b[REDACTED]` is one value. The second pass sees what is in texts
// made for that; the limit keeps the time linear for the others.
const MOST_PASSES = 6;

function settle<Text>(
  text: Text,
  secretsOf: (now: Text) => readonly Replacement[],
  replace: (now: Text, replacements: readonly Replacement[]) => Text,
): Text {
  let now = text;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const replacements = secretsOf(now);
    if (replacements.length === 0) break;
    now = replace(now, replacements);
  }
  return now;
}

// Each level at least doubles the backslashes of the one inside; real payloads have two or three.
const MOST_LEVELS = 8;

function secretsInPayload(json: string): readonly Replacement[] {
  return secretsInJson(json, (text) => secretsIn(text, 1)) ?? secretsInText(json);
}

function secretsIn(text: string, level: number): readonly Replacement[] {
  if (level < MOST_LEVELS && looksLikeJson(text)) {
    const found = secretsInJson(text, (inner) => secretsIn(inner, level + 1));
    if (found !== undefined) return found;
  }
  return secretsInText(text);
}

function looksLikeJson(text: string): boolean {
  const opening = text.charAt(outerSpace(text, 0, 1));
  const closing = text.charAt(outerSpace(text, text.length - 1, -1));
  return (opening === '{' && closing === '}') || (opening === '[' && closing === ']');
}

function outerSpace(text: string, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < text.length && text.charCodeAt(at) <= 32) at += step;
  return at;
}

function replaceInBytes(bytes: Uint8Array, replacements: readonly Replacement[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const { start, end, by } of replacements) {
    parts.push(bytes.subarray(done, start), encoder.encode(by));
    done = end;
  }
  parts.push(bytes.subarray(done));
  return joinBytes(parts);
}
