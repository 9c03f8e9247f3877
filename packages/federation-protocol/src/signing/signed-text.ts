import {
  fromBase64Url,
  hexToBytes,
  sign,
  toBase64Url,
  unlessMalformed,
  verify,
} from "@agent/crypto";

/** Returns the base64url signature over a text. */
export function signText(text: string, secretKey: Uint8Array): string {
  return toBase64Url(sign(text, secretKey));
}

/**
 * Returns whether `signature` (base64url) is that of `publicKey` (64 hex digits); false if
 * malformed.
 */
export function isTextSigned(text: string, signature: string, publicKey: string): boolean {
  const isSigned = unlessMalformed(() =>
    verify(fromBase64Url(signature), text, hexToBytes(publicKey)),
  );
  return isSigned === true;
}
