const MAX_TIME = 2 ** 48 - 1;
const VERSION = 0x70;
const VARIANT = 0x80;
const toCodes = (text: string) => Array.from(text, (character) => character.charCodeAt(0));
const DIGITS = toCodes("0123456789abcdef");
/** The character codes of an id, reused for each id, because a new array costs as much as the rest. */
const CODES = toCodes("00000000-0000-0000-0000-000000000000");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Builds a UUID v7 (RFC 9562) from `now` (ms since the epoch) and 10 random bytes. Throws
 * RangeError on other values.
 */
export function uuidV7(now: number, randomBytes: Uint8Array): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_TIME) {
    throw new RangeError("now must be a whole number of milliseconds below 2^48");
  }
  if (randomBytes.length < 10) throw new RangeError("randomBytes must be at least 10 bytes");
  const high = Math.floor(now / 2 ** 16);
  putByte(0, high >>> 24);
  putByte(2, high >>> 16);
  putByte(4, high >>> 8);
  putByte(6, high);
  putByte(9, now >>> 8);
  putByte(11, now);
  putByte(14, VERSION | (randomBytes[0]! & 0x0f));
  putByte(16, randomBytes[1]!);
  putByte(19, VARIANT | (randomBytes[2]! & 0x3f));
  putByte(21, randomBytes[3]!);
  for (let at = 4; at < 10; at++) putByte(16 + 2 * at, randomBytes[at]!);
  // Every task needs several ids, and an id that is concatenated from short strings costs twice as much by
  // the time it is stored.
  return String.fromCharCode(...CODES);
}

/** Writes the two hex digits of the lowest byte of a number. */
function putByte(at: number, byte: number): void {
  CODES[at] = DIGITS[(byte >>> 4) & 0x0f]!;
  CODES[at + 1] = DIGITS[byte & 0x0f]!;
}

/**
 * Returns whether a text is a lower-case UUID of version 4, 7 or 8, which are the versions of agent
 * ids.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
