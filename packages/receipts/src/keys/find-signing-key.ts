import { hexToBytes, verifyJson } from "@agent/crypto";
import type { ExecutionReceipt } from "../schema.ts";
import { type BoundKeys, listCandidateKeys } from "./candidate-keys.ts";

/**
 * Returns the key, as 64 lower-case hex digits, that signed a receipt which `verifyReceipt` accepted with the
 * same bound keys.
 */
export function findSigningKey(
  receipt: ExecutionReceipt,
  bound: BoundKeys | undefined,
): string | undefined {
  const keys = listCandidateKeys(receipt, bound);
  // Several keys are rare, and the verdict does not name the matching one.
  return keys.length === 1 ? keys[0] : keys.find((key) => verifyJson(receipt, hexToBytes(key)));
}
