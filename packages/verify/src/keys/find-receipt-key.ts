import { hexToBytes, verifyJson } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import { listKeysFor, type NamedKeys } from "./named-keys.ts";

/**
 * Returns the key that a valid receipt was verified with. If the caller named keys, the receipt may contain
 * a key that did not sign it.
 */
export function findReceiptKey(
  receipt: ExecutionReceipt,
  named: NamedKeys | undefined,
): string | undefined {
  const { agent_id: id, public_key: embedded } = receipt;
  if (named === undefined) return embedded;
  const keys = listKeysFor(named, { role: "agent", id });
  // The verdict on the receipt has shown already that one of them signed it.
  return keys.length === 1 ? keys[0] : keys.find((key) => verifyJson(receipt, hexToBytes(key)));
}
