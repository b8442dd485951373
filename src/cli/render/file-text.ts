import type { Redaction } from '../redaction.js';

/** Gives the text that a file holds, or undefined when it holds none: a NUL byte, or no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Gives the bytes of a file without the secrets in it; of one that is no text, too, whatever else it is. */
export function redactedBytes(bytes: Uint8Array, redaction: Redaction): Uint8Array {
  const text = textOf(bytes);
  // A character for each byte: secrets are ASCII, and all else comes back as it was.
  const encoding = text === undefined ? 'latin1' : 'utf8';
  const original = text ?? Buffer.from(bytes).toString('latin1');
  const redacted = redaction.text(original);
  return redacted === original ? bytes : Buffer.from(redacted, encoding);
}
