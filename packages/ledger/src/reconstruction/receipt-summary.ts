import type { ReceiptSummary } from "../schema.ts";

/** The members of a receipt that are read here; its hash covers all members. */
export interface SignedReceipt {
  readonly task_id: string;
  readonly agent_id: string;
  readonly device_id: string;
  readonly status: string;
  readonly tools_used: readonly string[];
  readonly signature: string;
}

const PREFIX_LENGTH = 16;

/**
 * Summarizes a receipt for a ledger (specification, Execution ledger): it refers to the receipt by
 * the first 16 characters of its signature. Only the full receipt is proof.
 */
export function summarizeReceipt(receipt: SignedReceipt): ReceiptSummary {
  const { task_id, agent_id, device_id, status, tools_used, signature } = receipt;
  return {
    task_id,
    agent_id,
    device_id,
    status,
    tools_used: [...tools_used],
    signature_prefix: signature.slice(0, PREFIX_LENGTH),
  };
}
