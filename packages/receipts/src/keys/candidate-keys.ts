import type { ExecutionReceipt } from "../schema.ts";

/** The public keys bound to an agent, each 64 lowercase hex digits, the likeliest first. */
export type BoundKeys = string | readonly string[];

/**
 * The keys to try. Bound keys are the only ones that count when they are given, and an embedded key
 * among them is the one its signer names; an embedded key alone proves only that its holder signed.
 */
export function listCandidateKeys(
  receipt: ExecutionReceipt,
  bound: BoundKeys | undefined,
): readonly string[] {
  const embedded = receipt.public_key;
  if (bound === undefined) return embedded === undefined ? [] : [embedded];
  const keys = typeof bound === "string" ? [bound] : bound;
  return embedded !== undefined && keys.includes(embedded) ? [embedded] : keys;
}
