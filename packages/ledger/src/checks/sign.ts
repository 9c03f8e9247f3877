import { hexToBytes, sign, toBase64Url } from "@agent/crypto";
import { hashTimeline } from "./hash-timeline.ts";
import { type Ledger, LEDGER_SPEC } from "../schema.ts";

/** A ledger before it is hashed and signed. */
export type LedgerBody = Omit<Ledger, "spec" | "content_hash" | "signature">;

/** A signed ledger; those that a relay reconstructs are unsigned. */
export type SignedLedger = Ledger & { signature: string };

/**
 * Returns the body with `spec`, `content_hash` and `signature`, in a new object. The signature is
 * Ed25519 over the 32 bytes of the hash, not over its hex text (specification, Execution ledger),
 * and covers only the timeline. `secretKey` is the 32-byte seed. Throws CanonicalJsonError on an
 * event that has no canonical JSON.
 */
export function signLedger(body: LedgerBody, secretKey: Uint8Array): SignedLedger {
  const content_hash = hashTimeline(body.timeline);
  const signature = toBase64Url(sign(hexToBytes(content_hash), secretKey));
  return { ...body, spec: LEDGER_SPEC, content_hash, signature };
}
