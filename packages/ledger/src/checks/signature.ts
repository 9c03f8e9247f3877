import { fromBase64Url, hexToBytes, unlessMalformed, verify } from "@agent/crypto";

/** Returns whether one of the keys signed the hash's bytes; a malformed signature or key counts as false. */
export function isSignatureValid(
  signature: string,
  hash: string,
  keys: readonly string[],
): boolean {
  const bytes = unlessMalformed(() => fromBase64Url(signature));
  return (
    bytes !== undefined &&
    keys.some((key) => {
      const publicKey = unlessMalformed(() => hexToBytes(key));
      return publicKey !== undefined && verify(bytes, hexToBytes(hash), publicKey);
    })
  );
}
