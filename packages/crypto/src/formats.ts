import base58btc from "bs58";

/** Thrown for a text that is not the canonical encoding of any bytes. */
export class EncodingError extends TypeError {
  override name = "EncodingError";
}

// Base58 decodes in quadratic time, and no encoded value is longer than a signature (88 digits).
const MAX_BASE58_LENGTH = 128;

/** Matches 32 bytes in lower-case hex, 64 digits: a public key or a SHA-256 hash. */
export const HEX_OF_32_BYTES = /^[0-9a-f]{64}$/;

const HEX = "0123456789abcdef";
const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64URL = `${LETTERS_AND_DIGITS}-_`;
const BASE64 = `${LETTERS_AND_DIGITS}+/`;
const INVALID_DIGIT = 0xff;

const HEX_PAIRS = Array.from({ length: 256 }, (_, byte) => HEX[byte >> 4]! + HEX[byte & 15]!);
const HEX_VALUES = buildDigitValues(HEX);
const BASE64URL_VALUES = buildDigitValues(BASE64URL);
const BASE64_VALUES = buildDigitValues(BASE64);

/** Encodes bytes as lower-case hex. */
export function bytesToHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += HEX_PAIRS[bytes[i]!]!;
  return text;
}

/** Decodes lower-case hex. Throws EncodingError on any other character and on an odd length. */
export function hexToBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  let valid = text.length % 2 === 0;
  for (let i = 0; i < bytes.length; i++) {
    const high = getDigitValue(HEX_VALUES, text, 2 * i);
    const low = getDigitValue(HEX_VALUES, text, 2 * i + 1);
    if ((high | low) === INVALID_DIGIT) valid = false;
    bytes[i] = (high << 4) | low;
  }
  if (!valid) throw new EncodingError("not lower-case hex");
  return bytes;
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return encodeSixBits(bytes, BASE64URL);
}

/**
 * Decodes unpadded base64url. Throws EncodingError on padding, other alphabets, whitespace and
 * unused bits that are not zero, so that no two texts decode to the same bytes.
 */
export function fromBase64Url(text: string): Uint8Array {
  const bytes = decodeSixBits(text, BASE64URL_VALUES);
  if (bytes === undefined) throw new EncodingError("not base64url");
  return bytes;
}

/** Encodes bytes as base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  const digits = encodeSixBits(bytes, BASE64);
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

/**
 * Decodes padded base64. Throws EncodingError on missing padding, other alphabets, whitespace and
 * unused bits that are not zero, so that no two texts decode to the same bytes.
 */
export function fromBase64(text: string): Uint8Array {
  const bytes =
    text.length % 4 === 0 ? decodeSixBits(text.replace(/={1,2}$/, ""), BASE64_VALUES) : undefined;
  if (bytes === undefined) throw new EncodingError("not base64");
  return bytes;
}

/** Encodes bytes as base58 in the Bitcoin alphabet, without a multibase prefix. */
export function toBase58Btc(bytes: Uint8Array): string {
  return base58btc.encode(bytes);
}

/** Decodes base58btc. Throws EncodingError on other characters and on more than 128 characters. */
export function fromBase58Btc(text: string): Uint8Array {
  const bytes = text.length > MAX_BASE58_LENGTH ? undefined : base58btc.decodeUnsafe(text);
  if (bytes === undefined) throw new EncodingError("not base58btc of at most 128 characters");
  return bytes;
}

function encodeSixBits(bytes: Uint8Array, alphabet: string): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += alphabet[group >> 18]! + alphabet[(group >> 12) & 63]!;
    if (i + 1 < bytes.length) text += alphabet[(group >> 6) & 63]!;
    if (i + 2 < bytes.length) text += alphabet[group & 63]!;
  }
  return text;
}

function decodeSixBits(text: string, values: Uint8Array): Uint8Array | undefined {
  const bytes = new Uint8Array((text.length * 6) >> 3);
  let valid = text.length % 4 !== 1;
  let pending = 0;
  let bits = 0;
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const value = getDigitValue(values, text, i);
    if (value === INVALID_DIGIT) valid = false;
    pending = ((pending << 6) | value) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = pending >> bits;
    }
  }
  return valid && (pending & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

function buildDigitValues(alphabet: string): Uint8Array {
  const values = new Uint8Array(128).fill(INVALID_DIGIT);
  for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value;
  return values;
}

function getDigitValue(values: Uint8Array, text: string, index: number): number {
  return values[text.charCodeAt(index)] ?? INVALID_DIGIT;
}
