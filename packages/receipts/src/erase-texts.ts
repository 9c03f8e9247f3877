import * as v from "valibot";
import { type ExecutionReceipt, ReceiptMembersSchema } from "./schema.ts";

/**
 * Returns a receipt without its texts: its signed hash replaces `result`, in nested receipts too.
 * Members that the format does not name, and malformed nested receipts, are left out because they
 * may hold copies. The signature still identifies the receipt but no longer verifies. Erasing twice
 * changes nothing more.
 */
export function eraseTexts(receipt: ExecutionReceipt): ExecutionReceipt {
  const { delegation_receipts: nested } = receipt;
  return {
    ...withoutTexts(receipt),
    ...(nested !== undefined && {
      delegation_receipts: nested.filter(isReceiptLike).map(eraseTexts),
    }),
  };
}

/**
 * Erases the texts of the receipts nested in `receipt`, at any depth, that have this signature. All
 * other members stay as they are.
 */
export function eraseNestedTexts(receipt: ExecutionReceipt, signature: string): ExecutionReceipt {
  const { delegation_receipts: nested } = receipt;
  if (nested === undefined) return receipt;
  return {
    ...receipt,
    delegation_receipts: nested.map((inner) => {
      if (!isReceiptLike(inner)) return inner;
      return inner.signature === signature ? eraseTexts(inner) : eraseNestedTexts(inner, signature);
    }),
  };
}

/** Lists the signatures of all receipts nested in a receipt, at any depth, each once. */
export function listNestedSignatures(receipt: ExecutionReceipt): string[] {
  const found = new Set<string>();
  const pending = [...(receipt.delegation_receipts ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!isReceiptLike(next)) continue;
    found.add(next.signature);
    pending.push(...(next.delegation_receipts ?? []));
  }
  return [...found];
}

/** Nested receipts are verified separately, so an archived receipt may contain malformed ones. */
function isReceiptLike(value: unknown): value is ExecutionReceipt {
  return v.is(ReceiptMembersSchema, value);
}

function withoutTexts(receipt: ExecutionReceipt): Omit<ExecutionReceipt, "delegation_receipts"> {
  const { public_key, relay_task_id, delegated_scope } = receipt;
  return {
    task_id: receipt.task_id,
    agent_id: receipt.agent_id,
    device_id: receipt.device_id,
    submitted_at: receipt.submitted_at,
    completed_at: receipt.completed_at,
    status: receipt.status,
    result: receipt.result_hash,
    tools_used: receipt.tools_used,
    memories_formed: receipt.memories_formed,
    prompt_hash: receipt.prompt_hash,
    result_hash: receipt.result_hash,
    suite: receipt.suite,
    signature: receipt.signature,
    ...(public_key !== undefined && { public_key }),
    ...(relay_task_id !== undefined && { relay_task_id }),
    ...(delegated_scope !== undefined && { delegated_scope }),
  };
}
