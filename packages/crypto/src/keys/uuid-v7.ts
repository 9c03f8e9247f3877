const MAX_TIME = 2 ** 48 - 1;
const VERSION = 0x70;
const VARIANT = 0x80;
const HYPHEN = "-".charCodeAt(0);
const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Builds a UUID v7 (RFC 9562) from `now` (ms since the epoch) and 10 random bytes. Throws
 * RangeError on other values.
 */
export function uuidV7(now: number, randomBytes: Uint8Array): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_TIME) {
    throw new RangeError("the time of a UUID is a whole number of 48 bits");
  }
  if (randomBytes.length < 10) throw new RangeError("a UUID takes 10 random bytes");
  const codes: number[] = [];
  const high = Math.floor(now / 2 ** 16);
  pushByte(codes, high >>> 24);
  pushByte(codes, high >>> 16);
  pushByte(codes, high >>> 8);
  pushByte(codes, high);
  codes.push(HYPHEN);
  pushByte(codes, now >>> 8);
  pushByte(codes, now);
  codes.push(HYPHEN);
  pushByte(codes, VERSION | (randomBytes[0]! & 0x0f));
  pushByte(codes, randomBytes[1]!);
  codes.push(HYPHEN);
  pushByte(codes, VARIANT | (randomBytes[2]! & 0x3f));
  pushByte(codes, randomBytes[3]!);
  codes.push(HYPHEN);
  for (let at = 4; at < 10; at++) pushByte(codes, randomBytes[at]!);
  // Every task needs several ids, and a text that is added up from short ones costs twice as much by the
  // time that it is stored.
  return String.fromCharCode(...codes);
}

/** Adds the two hex digits of the lowest byte of a number. */
function pushByte(codes: number[], byte: number): void {
  codes.push(DIGITS[(byte >>> 4) & 0x0f]!, DIGITS[byte & 0x0f]!);
}

/**
 * Returns whether a text is a lower-case UUID of version 4, 7 or 8, which are the versions of agent
 * ids.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
