import { HEX_OF_32_BYTES } from "@agent/crypto";
import type { ExecutionReceipt } from "../schema.ts";

/** The public keys bound to an agent, each 64 lower-case hex digits, the most likely first. */
export type BoundKeys = string | readonly string[];

/**
 * Lists the keys to try. If there are bound keys, only they count; if the embedded key is one of them, it
 * is tried alone, because the signer names it. Without bound keys the embedded one is used, which proves
 * only that its holder signed. Texts in any other form are ignored: trying them would report the caller's
 * mistake as an invalid signature.
 */
export function listCandidateKeys(
  receipt: ExecutionReceipt,
  bound: BoundKeys | undefined,
): readonly string[] {
  const embedded = receipt.public_key;
  if (bound === undefined) return embedded === undefined ? [] : [embedded];
  const keys = (typeof bound === "string" ? [bound] : bound).filter((key) =>
    HEX_OF_32_BYTES.test(key),
  );
  return embedded !== undefined && keys.includes(embedded) ? [embedded] : keys;
}
