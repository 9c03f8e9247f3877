import { hexToBytes, verifyJson } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import type { SignerKeys } from "./list-signer-keys.ts";

/**
 * Finds the key with which a verified receipt was signed. Without registered keys it is the one that the
 * receipt names.
 */
export function findSigningKey(receipt: ExecutionReceipt, keys: SignerKeys): string | undefined {
  const { public_key: named } = receipt;
  if (keys === undefined || (named !== undefined && keys.includes(named))) return named;
  const [only] = keys;
  // Several keys are rare, and the verdict does not name the matching one.
  return keys.length === 1 ? only : keys.find((key) => verifyJson(receipt, hexToBytes(key)));
}
