import type { ReceiptSummary } from "../schema.ts";

/** What is read of a receipt; all its members count for its hash. */
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
 * What a ledger tells of a receipt (specification, Execution ledger): a pointer to it by the first
 * 16 characters of its signature. It proves nothing; the full receipt does.
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
