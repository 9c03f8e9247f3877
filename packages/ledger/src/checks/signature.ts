import { EncodingError, fromBase64Url, hexToBytes, verify } from "@agent/crypto";

/** Whether one of the keys signed the hash's bytes; false for what encodes no signature or key. */
export function isSignatureValid(
  signature: string,
  hash: string,
  keys: readonly string[],
): boolean {
  const bytes = decodeOrNull(fromBase64Url, signature);
  return (
    bytes !== null &&
    keys.some((key) => {
      const publicKey = decodeOrNull(hexToBytes, key);
      return publicKey !== null && verify(bytes, hexToBytes(hash), publicKey);
    })
  );
}

function decodeOrNull(decode: (text: string) => Uint8Array, text: string): Uint8Array | null {
  try {
    return decode(text);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
