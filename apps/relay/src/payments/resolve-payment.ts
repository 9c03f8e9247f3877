import { fromMicro } from "@agent/budget";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { creditAccount } from "../budget/credit-account.ts";
import type { SaveResponse } from "../http/server/idempotency.ts";
import type { Services } from "../services.ts";
import { findPayment, resolveUndecidedPayment } from "./x402/x402-store.ts";

type Resolve = Operations["resolvePayment"];

/** Resolves an undecided payment once, by the decision of the operator, who has checked the chain. */
export async function resolvePayment(
  { storage, runtime, log }: Pick<Services, "storage" | "runtime" | "log">,
  paymentId: string,
  { outcome, reason }: BodyOf<Resolve>,
  saveResponse?: SaveResponse,
): Promise<Answer<Resolve>> {
  const result = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const settled_at = outcome === "settled" ? now : null;
    const resolution = { proof_hash: paymentId, state: outcome, reason, settled_at };
    const row = await resolveUndecidedPayment(tx, resolution, now);
    if (row === undefined) {
      const known = await findPayment(tx, paymentId);
      return refuse(known === undefined ? "payment.not_found" : "payment.resolved");
    }
    const { payer_id, amount } = row;
    if (outcome === "settled") {
      const credited = await creditAccount(tx, runtime, {
        agentId: payer_id,
        amount,
        reference: `x402:${paymentId}`,
        description: "x402 payment",
      });
      if (!credited.ok) return credited;
    }
    const body = {
      payment_id: paymentId,
      payer_id,
      amount: fromMicro(amount),
      status: outcome,
      reason,
    };
    const answer = { ok: true as const, status: 200 as const, body };
    await saveResponse?.(tx, answer);
    return answer;
  }, "locked");
  if (result.ok) {
    const { payer_id, amount, status } = result.body;
    log.info("x402.payment.resolved", { correlationId: paymentId, payer_id, amount, status });
  }
  return result;
}
