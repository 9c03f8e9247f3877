import { canonicalizeSigned, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "./schema.ts";

/**
 * A receipt of valid structure with its canonical form. `verifyReceipt` neither parses nor
 * serializes the receipt again, so it must not be changed in between. This is a class because
 * external data can have any shape but is never an instance of it.
 */
export class ParsedReceipt {
  readonly ok = true;
  /** The value itself, unknown members included. */
  readonly receipt: ExecutionReceipt;
  /** The result of `hashReceipt`. */
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
