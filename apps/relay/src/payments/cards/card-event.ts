import { asMicro, type CardDispute, type Micro } from "@agent/budget";
import type Stripe from "stripe";
import { CENT_IN_MICRO } from "./create-checkout.ts";

/** An event of the card processor about a payment to this relay. */
export type CardEvent =
  | {
      readonly kind: "paid";
      readonly sessionId: string;
      readonly agentId: string;
      /** The id that refunds and disputes refer to. */
      readonly paymentId: string | null;
      readonly paid: Micro;
    }
  | {
      readonly kind: "refunded";
      readonly paymentId: string;
      /** The sum of all refunds of the payment. */
      readonly refunded: Micro;
    }
  | {
      readonly kind: "disputed";
      readonly paymentId: string;
      readonly disputeId: string;
      readonly dispute: CardDispute;
    }
  /** A refund that did not reach the card, so that the processor returned its money to the operator. */
  | {
      readonly kind: "refund_failed";
      readonly paymentId: string;
      readonly refundId: string;
      readonly amount: Micro;
    }
  /** An amount that cannot be booked here. */
  | { readonly kind: "unusable"; readonly about: string; readonly currency: string | null };

const paymentEventTypes: readonly string[] = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
];

/** Parses an event; undefined when it concerns no payment to this relay. */
export function parseCardEvent(event: Stripe.Event, relayId: string): CardEvent | undefined {
  if (paymentEventTypes.includes(event.type)) {
    return parseSession(event.data.object as Stripe.Checkout.Session, relayId);
  }
  if (event.type === "charge.refunded") return parseRefund(event.data.object, relayId);
  if (event.type === "refund.failed") return parseFailedRefund(event.data.object);
  if (event.type.startsWith("charge.dispute.")) {
    return parseDispute(event.data.object as Stripe.Dispute, event.created);
  }
  return undefined;
}

function parseSession(session: Stripe.Checkout.Session, relayId: string): CardEvent | undefined {
  const { id: sessionId, metadata, currency, amount_total: cents } = session;
  const agentId = metadata?.["agent_id"];
  // One account at the processor can serve several relays.
  if (agentId === undefined || metadata?.["relay_id"] !== relayId) return undefined;
  if (session.payment_status !== "paid") return undefined;
  const paid = centsToMicro(currency, cents);
  if (paid === undefined) return createUnusableEvent(sessionId, currency);
  return { kind: "paid", sessionId, agentId, paymentId: getObjectId(session.payment_intent), paid };
}

function parseRefund(charge: Stripe.Charge, relayId: string): CardEvent | undefined {
  const paymentId = getObjectId(charge.payment_intent);
  const isOthers = (charge.metadata?.["relay_id"] ?? relayId) !== relayId;
  if (paymentId === null || isOthers) return undefined;
  const refunded = centsToMicro(charge.currency, charge.amount_refunded);
  if (refunded === undefined) return createUnusableEvent(paymentId, charge.currency);
  return { kind: "refunded", paymentId, refunded };
}

function parseFailedRefund(refund: Stripe.Refund): CardEvent | undefined {
  const paymentId = getObjectId(refund.payment_intent);
  const amount = centsToMicro(refund.currency, refund.amount);
  if (paymentId === null || amount === undefined) return undefined;
  return { kind: "refund_failed", paymentId, refundId: refund.id, amount };
}

/** The states of a dispute in which the processor has taken nothing, or has returned it. */
const statusesWithoutDebit: readonly string[] = ["won", "prevented"];

function parseDispute(dispute: Stripe.Dispute, reportedAt = 0): CardEvent | undefined {
  const { id: disputeId, status, currency } = dispute;
  const paymentId = getObjectId(dispute.payment_intent);
  if (paymentId === null) return undefined;
  const amount = centsToMicro(currency, dispute.amount);
  if (amount === undefined) return createUnusableEvent(paymentId, currency);
  // A warning is an inquiry by the cardholder's bank before any money is taken.
  const isTaken = !statusesWithoutDebit.includes(status) && !status.startsWith("warning_");
  const isFinal = ["won", "lost", "warning_closed", "prevented"].includes(status);
  const state = { amount, isTaken, isFinal, reportedAt };
  return { kind: "disputed", paymentId, disputeId, dispute: state };
}

function createUnusableEvent(about: string, currency: string | null): CardEvent {
  return { kind: "unusable", about, currency };
}

/** Accepts a positive US dollar amount in whole cents. */
function centsToMicro(currency: string | null, cents: number | null): Micro | undefined {
  if (currency !== "usd" || cents === null) return undefined;
  return Number.isSafeInteger(cents) && cents > 0 ? asMicro(cents * CENT_IN_MICRO) : undefined;
}

/** The processor refers to another object by its id, or embeds it. */
function getObjectId(value: string | { readonly id: string } | null | undefined): string | null {
  return typeof value === "string" ? value : (value?.id ?? null);
}
