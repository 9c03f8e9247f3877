import { hexToBytes } from "../formats.ts";

// The part of the strict rule (vectors/README.md) that needs no curve arithmetic. Both
// implementations apply it first, so that they agree on every input. All numbers are
// little-endian.

const L = hexToBytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
const P = hexToBytes("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");

/**
 * The y coordinates of the 8 points of small order, two of them also in their encoding modulo p.
 */
const SMALL_ORDER_POINTS = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].map(hexToBytes);

/**
 * Returns whether a key may be registered: 32 bytes and not of small order, for which signatures
 * can be forged. A key that is not on the curve passes, but no signature ever verifies under it.
 */
export function isAcceptablePublicKey(publicKey: Uint8Array): boolean {
  return publicKey.length === 32 && !isSmallOrder(publicKey);
}

/** Returns the secret key itself. Throws RangeError unless it is a seed of 32 bytes. */
export function assertSecretKey(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== 32) throw new RangeError("secretKey must be a seed of 32 bytes");
  return secretKey;
}

/**
 * Returns whether the lengths, S, R and the key pass every check that precedes the curve equation.
 */
export function isStrictlyEncoded(signature: Uint8Array, publicKey: Uint8Array): boolean {
  return (
    publicKey.length === 32 &&
    signature.length === 64 &&
    isBelow(signature, 32, L, 0xff) &&
    isCanonicalPoint(publicKey) &&
    isCanonicalPoint(signature)
  );
}

// With x = 0 the sign bit must be 0 as well, but those two points are of small order.
function isCanonicalPoint(bytes: Uint8Array): boolean {
  return isBelow(bytes, 0, P, 0x7f) && !isSmallOrder(bytes);
}

function isBelow(bytes: Uint8Array, start: number, bound: Uint8Array, topMask: number): boolean {
  const top = bytes[start + 31]! & topMask;
  if (top !== bound[31]) return top < bound[31]!;
  for (let i = 30; i >= 0; i--) {
    if (bytes[start + i] !== bound[i]) return bytes[start + i]! < bound[i]!;
  }
  return false;
}

function isSmallOrder(bytes: Uint8Array): boolean {
  return SMALL_ORDER_POINTS.some((y) => {
    for (let i = 0; i < 31; i++) if (bytes[i] !== y[i]) return false;
    return (bytes[31]! & 0x7f) === y[31];
  });
}
