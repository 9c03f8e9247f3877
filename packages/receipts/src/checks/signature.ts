import { fromBase64Url, hexToBytes, unlessMalformed, verify, verifyAsync } from "@agent/crypto";

/** A signature to verify: base64url, with keys as 64 hex digits. */
export interface SignatureClaim {
  readonly signature: string;
  readonly signedText: string;
  readonly keys: readonly string[];
}

/** Returns whether one of the keys signed the text; a malformed signature or key counts as false. */
export function isSignatureValid(claim: SignatureClaim): boolean {
  const signature = unlessMalformed(() => fromBase64Url(claim.signature));
  if (signature === undefined) return false;
  return claim.keys.some((key) => {
    const publicKey = unlessMalformed(() => hexToBytes(key));
    return publicKey !== undefined && verify(signature, claim.signedText, publicKey);
  });
}

/** Verifies like `isSignatureValid`, off the event loop where the platform has threads. */
export async function isSignatureValidAsync(claim: SignatureClaim): Promise<boolean> {
  const signature = unlessMalformed(() => fromBase64Url(claim.signature));
  if (signature === undefined) return false;
  for (const key of claim.keys) {
    const publicKey = unlessMalformed(() => hexToBytes(key));
    // One after another, because the first key is nearly always the right one.
    if (publicKey !== undefined && (await verifyAsync(signature, claim.signedText, publicKey))) {
      return true;
    }
  }
  return false;
}
