const MAX_TIME = 2 ** 48 - 1;
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
  const r = randomBytes;
  const high = Math.floor(now / 2 ** 16);
  const time = [high >>> 24, high >>> 16, high >>> 8, high, now >>> 8, now] as const;
  const version = 0x70 | (r[0]! & 0x0f);
  const variant = 0x80 | (r[2]! & 0x3f);
  const random = [
    version,
    r[1]!,
    variant,
    r[3]!,
    r[4]!,
    r[5]!,
    r[6]!,
    r[7]!,
    r[8]!,
    r[9]!,
  ] as const;
  return formatUuid([...time, ...random]);
}

/**
 * Formats 16 bytes, of each number the lowest. Every task needs several ids, and a text that is added up from
 * short ones costs twice as much by the time that it is stored.
 */
function formatUuid(bytes: readonly number[]): string {
  const codes: number[] = [];
  for (let at = 0; at < 16; at++) {
    if (at === 4 || at === 6 || at === 8 || at === 10) codes.push(HYPHEN);
    const byte = bytes[at]!;
    codes.push(DIGITS[(byte >>> 4) & 0x0f]!, DIGITS[byte & 0x0f]!);
  }
  return String.fromCharCode(...codes);
}

/**
 * Returns whether a text is a lower-case UUID of version 4, 7 or 8, which are the versions of agent
 * ids.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
