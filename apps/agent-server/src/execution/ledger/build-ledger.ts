import { signLedger, summarizeReceipt, type SignedLedger } from "@agent/ledger";
import type { ExecutionReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import type { Identity } from "../../identity/identity.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Signs the ledger of a finished task. It contains no steps, because payments depend on them, and a tool
 * that was called again after a failure has not failed the task. Delegations appear as summaries of their
 * receipts, because a delegation event needs a step; this includes receipts that do not fit into the task's
 * own. Returns undefined if the timeline is incomplete or the ledger is too large for a request.
 */
export function buildLedger(
  timeline: Timeline,
  { receipt, nested }: { receipt: ExecutionReceipt; nested: readonly ExecutionReceipt[] },
  secretKey: Identity["secretKey"],
): SignedLedger | undefined {
  const status = receipt.status === "completed" ? "completed" : "failed";
  const events = timeline.finish(status);
  const [first, last] = [events?.at(0), events?.at(-1)];
  if (events === undefined || first === undefined || last === undefined) return undefined;
  const ledger = signLedger(
    {
      agent_id: receipt.agent_id,
      goal_id: receipt.task_id,
      plan_id: "",
      started_at: first.timestamp,
      completed_at: last.timestamp,
      status,
      timeline: [...events],
      steps: [],
      ...(nested.length > 0 && { delegation_receipts: nested.map(summarizeReceipt) }),
    },
    secretKey,
  );
  const bytes = Buffer.byteLength(JSON.stringify(ledger));
  return bytes > limits.requestBytes ? undefined : ledger;
}
