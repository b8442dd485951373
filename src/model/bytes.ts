// The characters with the Unicode property White_Space that are no ASCII, in UTF-8.
const WIDE_SPACES =
  '\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';
const WIDE_SPACE_BYTES = [...WIDE_SPACES].map((space) => new TextEncoder().encode(space));

/** UTF-8 without the characters of the Unicode property White_Space at both ends: a view of the same bytes. */
export function trimSpaceBytes(bytes: Uint8Array): Uint8Array {
  let from = 0;
  let to = bytes.length;
  for (let length = spaceAt(bytes, from); length > 0 && from < to; length = spaceAt(bytes, from)) from += length;
  for (let length = spaceBefore(bytes, to); length > 0 && to > from; length = spaceBefore(bytes, to)) to -= length;
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, Math.max(from, to));
}

/** How long the space is that begins at an offset; 0 when there is none. */
function spaceAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) return 0;
  if (byte < 0x80) return isAsciiSpace(byte) ? 1 : 0;
  return WIDE_SPACE_BYTES.find((space) => space.every((each, index) => bytes[at + index] === each))?.length ?? 0;
}

function spaceBefore(bytes: Uint8Array, end: number): number {
  const byte = bytes[end - 1];
  if (byte === undefined) return 0;
  if (byte < 0x80) return isAsciiSpace(byte) ? 1 : 0;
  return (
    WIDE_SPACE_BYTES.find((space) => spaceAt(bytes.subarray(0, end), end - space.length) === space.length)?.length ?? 0
  );
}

function isAsciiSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
