import { findSigningKey, type ExecutionReceipt } from "@agent/receipts";
import { listKeysFor, type NamedKeys } from "./named-keys.ts";

/**
 * Returns the key that a valid receipt was verified with. If the caller named keys, the receipt may contain
 * a key that did not sign it.
 */
export function findReceiptKey(
  receipt: ExecutionReceipt,
  named: NamedKeys | undefined,
): string | undefined {
  const id = receipt.agent_id;
  const bound = named === undefined ? undefined : listKeysFor(named, { role: "agent", id });
  return findSigningKey(receipt, bound);
}
