import { accountOf, toMicro, withdrawalPostings } from "@agent/budget";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { note } from "../audit/note.ts";
import type { KeepAnswer } from "../http/idempotency.ts";
import type { Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { WithdrawalRow } from "../storage/tables/budget.ts";
import { post } from "./post.ts";
import { withdrawalOf } from "./list-withdrawals.ts";
import { addPendingWithdrawal, insertWithdrawal } from "./withdrawal-store.ts";

type Request = Operations["requestWithdrawal"];

/** Takes money out of an account at once; it waits aside until the operator has paid it. */
export async function withdraw(
  { storage, runtime, identity, log }: Pick<Services, "storage" | "runtime" | "identity" | "log">,
  agentId: string,
  { destination, ...body }: BodyOf<Request>,
  { caller, keep }: { readonly caller: Caller; readonly keep?: KeepAnswer },
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
  const answer = { status: 201 as const, body: withdrawalOf(row) };
  const done = await storage.transaction(async (tx) => {
    const posted = await post(
      tx,
      runtime,
      withdrawalPostings({ agentId, withdrawalId: withdrawal_id, amount }),
      { reference: withdrawal_id, description: "withdrawal" },
    );
    if (!posted.ok) {
      const { code } = posted;
      return refuse(code === "money.balance_limit" ? "budget.insufficient" : code);
    }
    await addPendingWithdrawal(tx, { account: accountOf.agent(agentId), change: amount });
    await insertWithdrawal(tx, row);
    const action = "withdrawal.requested";
    await note(tx, row.created_at, caller, { agentId, action, detail: withdrawal_id });
    await keep?.(tx, answer);
    return answer;
  });
  if (!("ok" in done)) {
    log.info("withdrawal.requested", {
      correlationId: withdrawal_id,
      agent_id: agentId,
      amount: body.amount,
    });
  }
  return done;
}
