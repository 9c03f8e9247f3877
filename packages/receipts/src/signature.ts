import { EncodingError, fromBase64Url, hexToBytes, verify, verifyAsync } from "@agent/crypto";

/** A signature to check, as it is written in an artifact. */
export interface SignatureClaim {
  readonly signature: string;
  readonly signedText: string;
  readonly keys: readonly string[];
}

/** Whether one of the keys signed the text; false too for what encodes no signature or no key. */
export function signatureHolds(claim: SignatureClaim): boolean {
  const signature = decode(fromBase64Url, claim.signature);
  if (signature === null) return false;
  return claim.keys.some((key) => {
    const publicKey = decode(hexToBytes, key);
    return publicKey !== null && verify(signature, claim.signedText, publicKey);
  });
}

/** As `signatureHolds`, with the work off the event loop where the platform has threads for it. */
export async function signatureHoldsAsync(claim: SignatureClaim): Promise<boolean> {
  const signature = decode(fromBase64Url, claim.signature);
  if (signature === null) return false;
  for (const key of claim.keys) {
    const publicKey = decode(hexToBytes, key);
    // One key after another: the first is nearly always the right one.
    if (publicKey !== null && (await verifyAsync(signature, claim.signedText, publicKey))) {
      return true;
    }
  }
  return false;
}

function decode(decoder: (text: string) => Uint8Array, text: string): Uint8Array | null {
  try {
    return decoder(text);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
