import { bytesToHex, hexToBytes, sha256Hex } from "@agent/crypto";

/** An Ed25519 key that was created in this browser; it can sign, but no script can read its private part. */
export interface BrowserKey {
  readonly privateKey: CryptoKey;
  /** 64 hex digits. */
  readonly publicKey: string;
}

/** Creates a key; undefined if the browser cannot, because no weaker method is offered instead. */
export async function createBrowserKey(): Promise<BrowserKey | undefined> {
  try {
    const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
    return { privateKey: pair.privateKey, publicKey: bytesToHex(new Uint8Array(raw)) };
  } catch {
    // Without a secure connection there is no WebCrypto, and older browsers do not support the algorithm.
    return undefined;
  }
}

/** Formats a key for people who compare it on two screens, in the same groups as the command `pair`. */
export function formatFingerprint(publicKey: string): string {
  const fingerprint = sha256Hex(hexToBytes(publicKey)).slice(0, 16);
  return fingerprint.match(/.{4}/g)?.join(" ") ?? "";
}
