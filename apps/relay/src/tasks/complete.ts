import type { EndedBy } from "@agent/federation-protocol";
import { nestedSignatures, type ExecutionReceipt } from "@agent/receipts";
import { refuse, type Refusal } from "@agent/wire";
import { touchAgent } from "../agents/store.ts";
import { settle } from "../budget/settle.ts";
import type { PostRefusal } from "../budget/post.ts";
import type { Issuer } from "../credentials/issue.ts";
import { finishForPeer } from "../federation/finish-inbound.ts";
import { isExecutedByNamesake } from "../federation/is-namesake.ts";
import { isFromPeer } from "../federation/parties.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { NewSettlement } from "../storage/tables/budget.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { tellOfEnd } from "../webhooks/tell-of-task.ts";
import { countTask, type Standing } from "./count-task.ts";
import { leavePlace } from "./counters.ts";
import { returnToDelegation } from "./delegation-budget.ts";
import { archiveReceipt } from "./receipt-store.ts";
import { finishTask } from "./store.ts";

/** A verified receipt and what is known of it. */
export interface Verified {
  readonly receipt: ExecutionReceipt;
  readonly hash: string;
  /** As it arrived. */
  readonly text: string;
  /** By whom it came, and under which key: without a known one neither money nor trust moves. */
  readonly endedBy: EndedBy;
}

/** What one receipt changed. */
export interface Completed {
  readonly ok: true;
  readonly task: TaskRow;
  readonly settlement: NewSettlement | undefined;
  readonly standing: Standing;
}

/**
 * Ends a task, as it was read, with its receipt: state, archive, money, trust, credentials, in the
 * caller's transaction.
 */
export async function complete(
  tx: Tx,
  services: Issuer & Pick<Services, "config" | "subscriptions">,
  task: TaskRow,
  { receipt, hash, text, endedBy }: Verified,
  settleTask: typeof settle = settle,
): Promise<Completed | PostRefusal | Refusal<"task.already_finished">> {
  const now = services.runtime.now();
  const bound = endedBy.kind === "peer" || endedBy.isKeyRegistered;
  const finished = await finishTask(tx, task, {
    status: receipt.status,
    receipt_hash: hash,
    executor: receipt.agent_id,
    endedBy,
    now,
  });
  if (!finished) return refuse("task.already_finished");
  const archived = { task_id: task.task_id, receipt_hash: hash, agent_id: receipt.agent_id };
  const nested = nestedSignatures(receipt);
  await archiveReceipt(tx, { ...archived, body: text, received_at: now }, nested);
  // Between relays money moves when both have it on their books, not with the receipt.
  const settleNow = settleTask === settle && isFromPeer(task) ? finishForPeer : settleTask;
  const settled = await settleNow(tx, services, task, {
    receiptHash: hash,
    payeeId: receipt.agent_id,
    status: bound ? receipt.status : "failed",
  });
  if (!settled.ok) return settled;
  await returnToDelegation(tx, task, settled.settlement?.amount_settled);
  await leavePlace(tx, task.submitted_by);
  const { settlement } = settled;
  const isNamesake = endedBy.kind === "peer" && (await isExecutedByNamesake(tx, task.task_id));
  if (!isNamesake) await touchAgent(tx, receipt.agent_id, now);
  const standing =
    bound && !isNamesake
      ? await countTask(tx, services, task, {
          executorId: receipt.agent_id,
          status: receipt.status,
          settlement,
        })
      : unchanged;
  const { agent_id: executorId, status } = receipt;
  const { credentials } = standing;
  await tellOfEnd(tx, services, task, { executorId, status, settlement, credentials });
  return { ok: true, task, settlement, standing };
}

const unchanged: Standing = { trust: undefined, credentials: [] };
