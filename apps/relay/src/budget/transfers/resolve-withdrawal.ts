import { accountOf, buildPayoutPostings, buildReturnPostings, negate } from "@agent/budget";
import { refuse, type Refusal, type Withdrawal } from "@agent/wire";
import { recordAudit } from "../../audit/record-audit.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import { postMovement } from "../post-movement.ts";
import { toWithdrawal } from "./list-withdrawals.ts";
import {
  adjustPendingWithdrawals,
  findWithdrawal,
  resolvePendingWithdrawal,
} from "./withdrawal-store.ts";

/** The operator's decision on a withdrawal: paid or returned. */
export type WithdrawalOutcome = { readonly payout_reference: string } | { readonly reason: string };

type ResolvedWithdrawal = {
  readonly ok: true;
  readonly status: 200;
  readonly body: Withdrawal;
};

/** Resolves a withdrawal once: the money leaves the relay, or returns to its agent. */
export async function resolveWithdrawal(
  { storage, runtime, log }: Pick<Services, "storage" | "runtime" | "log">,
  withdrawalId: string,
  outcome: WithdrawalOutcome,
  { caller, saveResponse }: { readonly caller: Caller; readonly saveResponse?: SaveResponse },
): Promise<ResolvedWithdrawal | Refusal<"withdrawal.not_found" | "withdrawal.resolved">> {
  const paid = "payout_reference" in outcome;
  const status = paid ? ("completed" as const) : ("failed" as const);
  const now = runtime.now();
  const result = await storage.transaction(async (tx) => {
    const row = await resolvePendingWithdrawal(tx, {
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
    const movement = { agentId, withdrawalId, amount: row.amount };
    // This comes first, because pending withdrawals count toward the limit of the balance.
    await adjustPendingWithdrawals(tx, {
      account: accountOf.agent(agentId),
      change: negate(row.amount),
    });
    const posted = await postMovement(
      tx,
      runtime,
      paid ? buildPayoutPostings(movement) : buildReturnPostings(movement),
      {
        reference: withdrawalId,
        description: paid ? "withdrawal paid" : "withdrawal failed",
        ignoresLimit: true,
      },
    );
    if (!posted.ok) throw new Error(`withdrawal ${withdrawalId} cannot be moved: ${posted.code}`);
    const action = `withdrawal.${status}` as const;
    await recordAudit(tx, now, caller, { agentId, action, detail: withdrawalId });
    const answer: ResolvedWithdrawal = { ok: true, status: 200, body: toWithdrawal(row) };
    await saveResponse?.(tx, answer);
    return answer;
  }, "locked");
  if (result.ok) {
    const { agent_id, amount } = result.body;
    log.info("withdrawal.resolved", { correlationId: withdrawalId, agent_id, status, amount });
  }
  return result;
}
