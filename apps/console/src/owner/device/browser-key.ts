import { bytesToHex, hexToBytes, sha256Hex } from "@agent/crypto";

/** An Ed25519 key that this browser made and keeps: it signs, and no script can read its private part. */
export interface BrowserKey {
  readonly privateKey: CryptoKey;
  /** 64 hex digits. */
  readonly publicKey: string;
}

/** Makes a key; undefined where the browser cannot, because nothing weaker is offered in its place. */
export async function createBrowserKey(): Promise<BrowserKey | undefined> {
  try {
    const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
    return { privateKey: pair.privateKey, publicKey: bytesToHex(new Uint8Array(raw)) };
  } catch {
    // Without a secure connection there is no WebCrypto, and older browsers lack the algorithm.
    return undefined;
  }
}

/** Formats what a person compares on two screens, in the groups that the command `pair` prints. */
export function formatFingerprint(publicKey: string): string {
  const fingerprint = sha256Hex(hexToBytes(publicKey)).slice(0, 16);
  return fingerprint.match(/.{4}/g)?.join(" ") ?? "";
}
