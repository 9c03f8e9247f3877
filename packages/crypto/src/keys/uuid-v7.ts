import { bytesToHex, byteToHex } from "../formats.ts";

const MAX_TIME = 2 ** 48 - 1;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID v7 (RFC 9562) of `now` in milliseconds since the epoch and of 10 random bytes. */
export function uuidV7(now: number, randomBytes: Uint8Array): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_TIME) {
    throw new RangeError("the time of a UUID is a whole number of 48 bits");
  }
  if (randomBytes.length < 10) throw new RangeError("a UUID takes 10 random bytes");
  // Ids are made several times a task, and a number's own toString(16) is five times dearer.
  const [a, b, c, d] = randomBytes;
  const high = Math.floor(now / 2 ** 16);
  const time =
    byteToHex(high >>> 24) + byteToHex(high >>> 16) + byteToHex(high >>> 8) + byteToHex(high);
  const rest = byteToHex(now >>> 8) + byteToHex(now);
  const version = byteToHex(0x70 | (a! & 0x0f)) + byteToHex(b!);
  const variant = byteToHex(0x80 | (c! & 0x3f)) + byteToHex(d!);
  return `${time}-${rest}-${version}-${variant}-${bytesToHex(randomBytes.subarray(4, 10))}`;
}

/** Whether a text is a lower-case UUID of version 4, 7 or 8, the ones an agent may have as its id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
