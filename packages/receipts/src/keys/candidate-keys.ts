import { HEX_OF_32_BYTES } from "@agent/crypto";
import type { ExecutionReceipt } from "../schema.ts";

/** The public keys bound to an agent, each 64 lower-case hex digits, the most likely first. */
export type BoundKeys = string | readonly string[];

/**
 * Lists the keys to try. If there are bound keys, only they count, and an embedded key among them
 * is tried alone because its signer names it. An embedded key alone proves only that its holder
 * signed. A text in another form is no key: trying it would blame the signature for the caller's mistake.
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
