import { fromMicro } from "@agent/budget";
import { refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import { buildCardReference } from "../../budget/card-reference.ts";
import { creditAccount } from "../../budget/credit-account.ts";
import { reserveReference } from "../../budget/store.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { applyReversal, logReversal, type AppliedReversal } from "./apply-reversal.ts";
import { parseCardEvent, type CardEvent } from "./card-event.ts";
import type { CardProcessor } from "./card-processor.ts";
import { findCreditedCheckout, recordCheckoutPayment, setCheckoutPaymentId } from "./card-store.ts";
import { recordDispute, recordRefund } from "./reversal-store.ts";

type CardEventDependencies = Pick<Services, "storage" | "runtime" | "identity" | "config" | "log">;
type FailedRefund = Extract<CardEvent, { readonly kind: "refund_failed" }>;
type UsableCardEvent = Exclude<CardEvent, { readonly kind: "unusable" } | FailedRefund>;
interface AppliedCardEvent {
  readonly ok: true;
  /** True when a payment was credited. */
  readonly isNew: boolean;
  /** True when the operator had credited the payment already, by a deposit under its reference. */
  readonly isDeposited?: boolean;
  readonly reversed?: AppliedReversal;
  /** The reversal belongs to an unknown payment, or to another relay. */
  readonly isWaiting?: boolean;
}

const receivedAnswer = { status: 200, body: { received: true } } as const;

/**
 * Handles an event of the card processor. A payment is credited once per session, and a refund or
 * dispute is debited, in any order of the events and however often they repeat; an event
 * that concerns no payment to this relay is ignored.
 */
export async function receiveCardEvent(
  services: CardEventDependencies,
  processor: CardProcessor | undefined,
  { text, signature }: { readonly text: string; readonly signature: string | null },
): Promise<Answer<Operations["stripeWebhook"]>> {
  const { runtime, config, identity, log } = services;
  const { cardWebhookSecret: secret } = config.payments;
  if (processor === undefined || secret === undefined) return refuse("card.not_configured");
  if (signature === null) return refuse("card.signature_invalid");
  const signed = await processor.verifyEvent(text, signature, secret, runtime.now());
  if (signed === undefined) {
    log.warn("card.signature_invalid", {});
    return refuse("card.signature_invalid");
  }
  const event = parseCardEvent(signed, identity.relayId);
  if (event === undefined) return receivedAnswer;
  if (event.kind === "unusable") {
    const { about: correlationId, currency } = event;
    log.error("card.payment_unusable", { correlationId, currency, type: signed.type });
    return receivedAnswer;
  }
  if (event.kind === "refund_failed") {
    await reportFailedRefund(services, event);
    return receivedAnswer;
  }
  return applyCardEvent(services, event);
}

/**
 * Logs a refund that was debited but did not reach the card. The operator must credit it, because the
 * processor does not state whether its later refund totals still include it.
 */
async function reportFailedRefund(
  { storage, log }: CardEventDependencies,
  { paymentId, refundId: refund_id, amount }: FailedRefund,
): Promise<void> {
  const checkout = await findCreditedCheckout(storage.read, paymentId);
  // One account at the processor can serve several relays.
  if (checkout === undefined) return;
  const { agent_id } = checkout;
  log.error("card.refund_failed", {
    correlationId: paymentId,
    refund_id,
    agent_id,
    amount: fromMicro(amount),
  });
}

async function applyCardEvent(
  services: CardEventDependencies,
  event: UsableCardEvent,
): Promise<Answer<Operations["stripeWebhook"]>> {
  const { storage, log } = services;
  const correlationId = event.kind === "paid" ? event.sessionId : event.paymentId;
  const done = await storage.transaction((tx) =>
    event.kind === "paid"
      ? applyPayment(tx, services, event)
      : applyRefundOrDispute(tx, services, event),
  );
  if (!done.ok) {
    log.error("card.credit_refused", { correlationId, code: done.code });
    return done;
  }
  if (event.kind === "paid" && done.isNew) {
    const amount = fromMicro(event.paid);
    log.info("card.credited", { correlationId, agent_id: event.agentId, amount });
  }
  if (done.reversed !== undefined) logReversal(log, done.reversed);
  if (done.isDeposited) log.warn("card.credited_before", { correlationId });
  if (done.isWaiting) log.warn("card.reversal_waiting", { correlationId });
  return receivedAnswer;
}

/** Credits a payment once, less the reversals that arrived before it. */
async function applyPayment(
  tx: Tx,
  { runtime, config }: CardEventDependencies,
  { sessionId, agentId, paymentId, paid }: Extract<UsableCardEvent, { readonly kind: "paid" }>,
): Promise<AppliedCardEvent | Refusal<"money.balance_limit">> {
  const now = runtime.now();
  const { cardHoldMs } = config.payments;
  const releaseAt = now + cardHoldMs;
  const payment = { session_id: sessionId, agent_id: agentId, paid, now, release_at: releaseAt };
  const isFirst = await recordCheckoutPayment(tx, payment);
  const reference = buildCardReference(sessionId);
  // The operator may have credited the payment while the processor could not deliver its event.
  const isNew = isFirst && (await reserveReference(tx, { agent_id: agentId, reference }));
  if (isNew) {
    const credited = await creditAccount(tx, runtime, {
      agentId,
      amount: paid,
      reference,
      description: "card deposit",
      releaseAt,
    });
    if (!credited.ok) return credited;
  }
  const credit = { isNew, isDeposited: isFirst && !isNew };
  if (paymentId === null) return { ok: true, ...credit };
  await setCheckoutPaymentId(tx, { session_id: sessionId, payment_id: paymentId });
  const booked = await applyReversal(tx, runtime, { paymentId, cardHoldMs });
  return booked.ok ? { ...booked, ...credit } : booked;
}

/** Handles a refund or a dispute; when its payment is unknown, it is booked once the payment arrives. */
async function applyRefundOrDispute(
  tx: Tx,
  { runtime, config }: CardEventDependencies,
  event: Exclude<UsableCardEvent, { readonly kind: "paid" }>,
): Promise<AppliedCardEvent | Refusal<"money.balance_limit">> {
  const { paymentId } = event;
  const now = runtime.now();
  if (event.kind === "refunded") await recordRefund(tx, { ...event, now });
  else await recordDispute(tx, { ...event, now });
  const { cardHoldMs } = config.payments;
  const booked = await applyReversal(tx, runtime, { paymentId, cardHoldMs });
  return booked.ok ? { ...booked, isNew: false } : booked;
}
