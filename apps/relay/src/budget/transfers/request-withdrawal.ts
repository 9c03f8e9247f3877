import { accountOf, toMicro, buildWithdrawalPostings } from "@agent/budget";
import { limits, refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { recordAudit } from "../../audit/record-audit.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import type { Caller } from "../../identity/caller.ts";
import { newId } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { WithdrawalRow } from "../../storage/tables/budget.ts";
import { postMovement } from "../post-movement.ts";
import { findAccountToMove } from "../store.ts";
import { toWithdrawal } from "./list-withdrawals.ts";
import {
  adjustPendingWithdrawals,
  countPendingWithdrawals,
  insertWithdrawal,
} from "./withdrawal-store.ts";

type Request = Operations["requestWithdrawal"];

/** Debits an account at once and holds the money until the operator has paid it out. */
export async function requestWithdrawal(
  { storage, runtime, identity, log }: Pick<Services, "storage" | "runtime" | "identity" | "log">,
  agentId: string,
  { destination, ...body }: BodyOf<Request>,
  { caller, saveResponse }: { readonly caller: Caller; readonly saveResponse?: SaveResponse },
): Promise<Answer<Request>> {
  if (agentId === identity.relayId) return refuse("agent.id_reserved");
  const amount = toMicro(body.amount);
  const row: WithdrawalRow = {
    withdrawal_id: newId(runtime),
    agent_id: agentId,
    amount,
    destination,
    status: "pending",
    created_at: runtime.now(),
    resolved_at: null,
    payout_reference: null,
    reason: null,
  };
  const { withdrawal_id } = row;
  const answer = { ok: true as const, status: 201 as const, body: toWithdrawal(row) };
  const account = accountOf.agent(agentId);
  const result = await storage.transaction(async (tx) => {
    // The locked account makes the withdrawals of one agent wait for each other, so that all are counted.
    const found = await findAccountToMove(tx, account);
    const limit = limits.pendingWithdrawals;
    if ((await countPendingWithdrawals(tx, { agent_id: agentId, limit })) >= limit) {
      return refuse("withdrawal.too_many", `at most ${limit} pending withdrawals`);
    }
    const posted = await postMovement(
      tx,
      runtime,
      buildWithdrawalPostings({ agentId, withdrawalId: withdrawal_id, amount }),
      { reference: withdrawal_id, description: "withdrawal" },
      found,
    );
    if (!posted.ok) {
      const { code } = posted;
      return refuse(code === "money.balance_limit" ? "budget.insufficient" : code);
    }
    await adjustPendingWithdrawals(tx, { account, change: amount });
    await insertWithdrawal(tx, row);
    const action = "withdrawal.requested";
    await recordAudit(tx, row.created_at, caller, { agentId, action, detail: withdrawal_id });
    await saveResponse?.(tx, answer);
    return answer;
  }, "locked");
  if (result.ok) {
    log.info("withdrawal.requested", {
      correlationId: withdrawal_id,
      agent_id: agentId,
      amount: body.amount,
    });
  }
  return result;
}
