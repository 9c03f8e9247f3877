import { bytesToHex, byteToHex } from "../formats.ts";

const MAX_TIME = 2 ** 48 - 1;
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
  // Every task needs several ids, and toString(16) of a number is five times slower.
  const [a, b, c, d] = randomBytes;
  const high = Math.floor(now / 2 ** 16);
  const time =
    byteToHex(high >>> 24) + byteToHex(high >>> 16) + byteToHex(high >>> 8) + byteToHex(high);
  const rest = byteToHex(now >>> 8) + byteToHex(now);
  const version = byteToHex(0x70 | (a! & 0x0f)) + byteToHex(b!);
  const variant = byteToHex(0x80 | (c! & 0x3f)) + byteToHex(d!);
  return `${time}-${rest}-${version}-${variant}-${bytesToHex(randomBytes.subarray(4, 10))}`;
}

/**
 * Returns whether a text is a lower-case UUID of version 4, 7 or 8, which are the versions of agent
 * ids.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
