import { signJson, SUITE } from "@agent/crypto";
import type { ExecutionReceipt } from "../schema.ts";

/** A receipt before it is signed; members without a name in the specification are signed too. */
export type ReceiptBody = Omit<ExecutionReceipt, "suite" | "signature">;

/**
 * Returns the body with `suite` and `signature` (specification, ExecutionReceipt), in a new object.
 * `secretKey` is the 32-byte seed. Throws CanonicalJsonError on a body that has no canonical JSON.
 */
export function signReceipt(body: ReceiptBody, secretKey: Uint8Array): ExecutionReceipt {
  return signJson({ ...body, suite: SUITE }, secretKey);
}
