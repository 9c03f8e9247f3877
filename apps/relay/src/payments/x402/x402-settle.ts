import { toDollars } from "@agent/budget";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { creditAccount } from "../../budget/credit-account.ts";
import type { Services } from "../../services.ts";
import type { X402PaymentRow } from "../../storage/tables/payments.ts";
import type { Facilitator, SettleOutcome } from "./x402-facilitator.ts";
import { findPayment, listUnfinishedPayments, refusePayment, settlePayment } from "./x402-store.ts";

type SettleDependencies = Pick<Services, "storage" | "runtime" | "log">;
type Payment = Pick<X402PaymentRow, "proof_hash" | "payer_id" | "amount">;

/** Credits a payment that the facilitator has settled, once among concurrent callers. */
export async function creditPayment(
  { storage, runtime, log }: SettleDependencies,
  { proof_hash, payer_id, amount }: Payment,
  { response }: Extract<SettleOutcome, { outcome: "settled" }>,
): Promise<void> {
  const tx_hash = response.transaction;
  const done = await storage.transaction(async (tx) => {
    const settled = { proof_hash, tx_hash, settled_at: runtime.now() };
    if (!(await settlePayment(tx, settled))) return { ok: true as const, isNew: false };
    const credited = await creditAccount(tx, runtime, {
      agentId: payer_id,
      amount,
      reference: `x402:${tx_hash}`,
      description: "x402 payment",
    });
    return credited.ok ? { ok: true as const, isNew: true } : credited;
  }, "locked");
  const event = {
    correlationId: proof_hash,
    payer_id,
    tx_hash,
    amount: toDollars(amount),
  };
  if (!done.ok) log.error("x402.payment.credit_refused", { ...event, code: done.code });
  else if (done.isNew) log.info("x402.payment.credited", event);
}

/** Records that the facilitator refused a payment; false when its outcome is already known. */
export async function recordPaymentRefusal(
  { storage }: Pick<Services, "storage">,
  proof_hash: string,
  state: "failed" | "undecided",
  reason: string,
): Promise<boolean> {
  return storage.transaction((tx) => refusePayment(tx, { proof_hash, state, reason }));
}

/** Well beyond the facilitator's own timeout, so that a payment is never settled twice concurrently. */
const RETRY_AFTER_MS = 60_000;
const BATCH_SIZE = 50;

/**
 * Finishes payments whose settlement was requested but never answered, including those of a relay that
 * stopped before the answer arrived. The chain accepts an authorization only once, so requesting it again
 * cannot charge twice. A refusal may then mean that the payment was settled earlier, so the operator must
 * check the chain.
 */
export async function finishPayments(
  services: SettleDependencies & Pick<Services, "facilitator">,
): Promise<void> {
  const { storage, runtime, log, facilitator } = services;
  if (facilitator === undefined) return;
  const due = { now: runtime.now(), minAgeMs: RETRY_AFTER_MS, limit: BATCH_SIZE };
  for (const payment of await listUnfinishedPayments(storage.read, due)) {
    const { proof_hash, payer_id, wallet } = payment;
    // The operator may have resolved it while earlier payments were being requested.
    if ((await findPayment(storage.read, proof_hash))?.state !== "settling") continue;
    const outcome = await retrySettlement(facilitator, payment);
    if (outcome.outcome === "settled") await creditPayment(services, payment, outcome);
    if (outcome.outcome !== "refused") continue;
    const { reason } = outcome;
    if (!(await recordPaymentRefusal(services, proof_hash, "undecided", reason))) continue;
    log.error("x402.payment.undecided", { correlationId: proof_hash, payer_id, wallet, reason });
  }
}

function retrySettlement(
  facilitator: Facilitator,
  payment: X402PaymentRow,
): Promise<SettleOutcome> {
  return facilitator.settle(
    JSON.parse(payment.payload) as PaymentPayload,
    JSON.parse(payment.requirements) as PaymentRequirements,
  );
}
