import { accountOf, asMicro, payoutPostings, returnPostings } from "@agent/budget";
import { refuse, type Refusal, type Withdrawal } from "@agent/wire";
import { note } from "../audit/note.ts";
import type { KeepAnswer } from "../http/idempotency.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { post } from "./post.ts";
import { withdrawalOf } from "./list-withdrawals.ts";
import { addPendingWithdrawal, findWithdrawal, resolvePending } from "./withdrawal-store.ts";

/** How the operator ended a withdrawal: by a payment, or not at all. */
export type Outcome = { readonly payout_reference: string } | { readonly reason: string };

type Resolved = { readonly status: 200; readonly body: Withdrawal };

/** Ends a withdrawal once: what was set aside leaves the relay, or goes back to its agent. */
export async function resolveWithdrawal(
  { storage, runtime, log }: Pick<Services, "storage" | "runtime" | "log">,
  withdrawalId: string,
  outcome: Outcome,
  { caller, keep }: { readonly caller: Caller; readonly keep?: KeepAnswer },
): Promise<Resolved | Refusal<"withdrawal.not_found" | "withdrawal.resolved">> {
  const paid = "payout_reference" in outcome;
  const status = paid ? ("completed" as const) : ("failed" as const);
  const now = runtime.now();
  const done = await storage.transaction(async (tx) => {
    const row = await resolvePending(tx, {
      withdrawal_id: withdrawalId,
      status,
      resolved_at: now,
      payout_reference: paid ? outcome.payout_reference : null,
      reason: paid ? null : outcome.reason,
    });
    if (row === undefined) {
      const known = await findWithdrawal(tx, withdrawalId);
      return refuse(known === undefined ? "withdrawal.not_found" : "withdrawal.resolved");
    }
    const { agent_id: agentId } = row;
    const moved = { agentId, withdrawalId, amount: asMicro(row.amount) };
    // First, because what is on its way out counts toward the limit of the balance.
    await addPendingWithdrawal(tx, { account: accountOf.agent(agentId), change: -row.amount });
    const posted = await post(tx, runtime, paid ? payoutPostings(moved) : returnPostings(moved), {
      reference: withdrawalId,
      description: paid ? "withdrawal paid" : "withdrawal failed",
    });
    if (!posted.ok) throw new Error(`withdrawal ${withdrawalId} cannot be moved: ${posted.code}`);
    const action = `withdrawal.${status}` as const;
    await note(tx, now, caller, { agentId, action, detail: withdrawalId });
    const answer: Resolved = { status: 200, body: withdrawalOf(row) };
    await keep?.(tx, answer);
    return answer;
  });
  if (!("ok" in done)) {
    const { agent_id, amount } = done.body;
    log.info("withdrawal.resolved", { correlationId: withdrawalId, agent_id, status, amount });
  }
  return done;
}
