import { bytesToHex } from "./formats.ts";

const MAX_TIME = 2 ** 48 - 1;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID v7 (RFC 9562) of `now` in milliseconds since the epoch and of 10 random bytes. */
export function uuidV7(now: number, randomBytes: Uint8Array): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_TIME) {
    throw new RangeError("the time of a UUID is a whole number of 48 bits");
  }
  if (randomBytes.length < 10) throw new RangeError("a UUID takes 10 random bytes");
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(now / 2 ** 32));
  view.setUint32(2, now % 2 ** 32);
  bytes.set(randomBytes.subarray(0, 10), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytesToHex(bytes);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

/** Whether a text is a lower-case UUID of version 4, 7 or 8, the ones an agent may have as its id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
