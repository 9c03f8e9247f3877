import type { ExecutionReceipt } from "@agent/receipts";

/** Parses the text of an archived receipt. The archive holds only verified receipts. */
export function parseArchivedReceipt(body: string): ExecutionReceipt {
  return JSON.parse(body) as ExecutionReceipt;
}
