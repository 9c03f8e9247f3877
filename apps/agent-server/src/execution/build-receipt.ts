import { sha256Hex } from "@agent/crypto";
import { isTimeSpanAllowed, signReceipt, type ExecutionReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import type { Identity } from "../identity/identity.ts";
import type { Outcome } from "./executor.ts";
import { selectNestedReceipts } from "./select-nested-receipts.ts";
import type { WorkTask } from "./task.ts";

export type StartedTask = WorkTask & { readonly startedAt: number };

/** The end of a task: its outcome, the tools used and the nested receipts. */
export interface TaskEnd {
  readonly outcome: Outcome;
  readonly toolsUsed: readonly string[];
  readonly nested: readonly ExecutionReceipt[];
  /** Milliseconds since the Unix epoch. */
  readonly completedAt: number;
}

export interface ReceiptSigner {
  readonly identity: Pick<Identity, "agentId" | "publicKey" | "secretKey">;
  readonly deviceId: string;
}

/**
 * Signs the receipt of a task. A result above the size of a request becomes that of a failed task, and
 * receipts of subcontractors that would make it invalid or too large are left out.
 */
export function buildReceipt(
  task: StartedTask,
  end: TaskEnd,
  signer: ReceiptSigner,
): ExecutionReceipt {
  const own = signEnd(task, { ...end, nested: [] }, signer);
  const freeBytes = limits.requestBytes - countBytes(own);
  if (freeBytes < 0) return buildReceipt(task, { ...end, outcome: TOO_LARGE_OUTCOME }, signer);
  const nested = selectNestedReceipts(end.nested, freeBytes - MEMBER_BYTES);
  return nested.length === 0 ? own : signEnd(task, { ...end, nested }, signer);
}

const MEMBER_BYTES = ',"delegation_receipts":[]'.length;

function countBytes(receipt: ExecutionReceipt): number {
  return Buffer.byteLength(JSON.stringify(receipt));
}

function signEnd(
  task: StartedTask,
  { outcome, toolsUsed, nested, completedAt }: TaskEnd,
  { identity, deviceId }: ReceiptSigner,
): ExecutionReceipt {
  // A lone surrogate has no UTF-8 form, so it can be neither hashed nor signed.
  const result = outcome.result.toWellFormed();
  return signReceipt(
    {
      task_id: task.relayTaskId ?? task.taskId,
      agent_id: identity.agentId,
      public_key: identity.publicKey,
      device_id: deviceId,
      submitted_at: getReceiptStart(task, completedAt),
      completed_at: completedAt,
      status: outcome.status,
      result,
      tools_used: [...toolsUsed],
      memories_formed: 0,
      prompt_hash: sha256Hex(task.prompt),
      result_hash: sha256Hex(result),
      ...(nested.length > 0 && { delegation_receipts: [...nested] }),
      ...(task.relayTaskId !== undefined && { relay_task_id: task.relayTaskId }),
      ...(task.scope !== undefined && { delegated_scope: task.scope.join(",") }),
    },
    identity.secretKey,
  );
}

/**
 * Returns the start that the receipt states: the submission, otherwise the start of the work, otherwise the
 * end. A task may wait or take longer than a receipt's time span may be, and the clock may jump in the
 * meantime; a relay refuses such a receipt permanently, and the work would stay unpaid.
 */
function getReceiptStart({ submittedAt, startedAt }: StartedTask, completedAt: number): number {
  const isAllowed = (start: number) =>
    isTimeSpanAllowed({ submitted_at: start, completed_at: completedAt });
  return [submittedAt, startedAt].find(isAllowed) ?? completedAt;
}

const TOO_LARGE_OUTCOME: Outcome = {
  status: "failed",
  result: `The receipt would be larger than ${limits.requestBytes} bytes`,
};
