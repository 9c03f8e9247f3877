import { asMicro, fromMicro } from "@agent/budget";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { credit } from "../budget/credit.ts";
import type { KeepAnswer } from "../http/idempotency.ts";
import type { Services } from "../services.ts";
import { findPayment, resolveUndecided } from "./x402-store.ts";

type Resolve = Operations["resolvePayment"];

/** Ends an undecided payment by the operator's word, who has looked at the chain; once. */
export async function resolvePayment(
  { storage, runtime, log }: Pick<Services, "storage" | "runtime" | "log">,
  paymentId: string,
  { outcome, reason }: BodyOf<Resolve>,
  keep?: KeepAnswer,
): Promise<Answer<Resolve>> {
  const done = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const settled_at = outcome === "settled" ? now : null;
    const resolution = { proof_hash: paymentId, state: outcome, reason, settled_at };
    const row = await resolveUndecided(tx, resolution, now);
    if (row === undefined) {
      const known = await findPayment(tx, paymentId);
      return refuse(known === undefined ? "payment.not_found" : "payment.resolved");
    }
    const { payer_id } = row;
    const amount = asMicro(row.amount);
    if (outcome === "settled") {
      const credited = await credit(tx, runtime, {
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
    const answer = { status: 200 as const, body };
    await keep?.(tx, answer);
    return answer;
  });
  if (!("ok" in done)) {
    const { payer_id, amount, status } = done.body;
    log.info("x402.payment.resolved", { correlationId: paymentId, payer_id, amount, status });
  }
  return done;
}
