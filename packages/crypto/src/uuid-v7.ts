import { bytesToHex } from "./formats.ts";

const MAX_TIME = 2 ** 48 - 1;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[478][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID v7 (RFC 9562) of `now` in milliseconds since the epoch and of 10 random bytes. */
export function uuidV7(now: number, randomBytes: Uint8Array): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_TIME) {
    throw new RangeError("the time of a UUID is a whole number of 48 bits");
  }
  if (randomBytes.length < 10) throw new RangeError("a UUID takes 10 random bytes");
  const time = now.toString(16).padStart(12, "0");
  const bytes = randomBytes.slice(0, 10);
  bytes[0] = 0x70 | (bytes[0]! & 0x0f);
  bytes[2] = 0x80 | (bytes[2]! & 0x3f);
  const rest = bytesToHex(bytes);
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}

/** Whether a text is a lower-case UUID of version 4, 7 or 8, the ones an agent may have as its id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
