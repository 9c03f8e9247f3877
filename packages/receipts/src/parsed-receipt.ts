import { canonicalizeSigned, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "./schema.ts";

/**
 * A receipt of right structure, with what its canonical form says. `verifyReceipt` does not read or
 * write the receipt again, so it must not be changed in between. It is a class because data that came
 * from outside can look like anything, but is never an instance of it.
 */
export class ParsedReceipt {
  readonly ok = true;
  /** The value itself, unknown members included. */
  readonly receipt: ExecutionReceipt;
  /** What `receiptHash` answers. */
  readonly hash: string;
  /** The canonical JSON of all members but `signature`. */
  readonly signedText: string;

  /** Throws CanonicalJsonError on a receipt that has no canonical JSON. */
  constructor(receipt: ExecutionReceipt) {
    const { text, signedText } = canonicalizeSigned(receipt);
    this.receipt = receipt;
    this.hash = sha256Hex(text);
    this.signedText = signedText;
  }
}
