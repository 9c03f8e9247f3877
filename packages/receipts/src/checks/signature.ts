import { EncodingError, fromBase64Url, hexToBytes, verify, verifyAsync } from "@agent/crypto";

/** A signature to check, as it is written in an artifact. */
export interface SignatureClaim {
  readonly signature: string;
  readonly signedText: string;
  readonly keys: readonly string[];
}

/** Whether one of the keys signed the text; false too for what encodes no signature or no key. */
export function isSignatureValid(claim: SignatureClaim): boolean {
  const signature = decodeOrNull(fromBase64Url, claim.signature);
  if (signature === null) return false;
  return claim.keys.some((key) => {
    const publicKey = decodeOrNull(hexToBytes, key);
    return publicKey !== null && verify(signature, claim.signedText, publicKey);
  });
}

/** As `isSignatureValid`, with the work off the event loop where the platform has threads for it. */
export async function isSignatureValidAsync(claim: SignatureClaim): Promise<boolean> {
  const signature = decodeOrNull(fromBase64Url, claim.signature);
  if (signature === null) return false;
  for (const key of claim.keys) {
    const publicKey = decodeOrNull(hexToBytes, key);
    // One key after another: the first is nearly always the right one.
    if (publicKey !== null && (await verifyAsync(signature, claim.signedText, publicKey))) {
      return true;
    }
  }
  return false;
}

function decodeOrNull(decoder: (text: string) => Uint8Array, text: string): Uint8Array | null {
  try {
    return decoder(text);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
