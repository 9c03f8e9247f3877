import { toMicro } from "@agent/budget";
import {
  createDisputeEvent,
  createPaidEvent,
  createRefundEvent,
  sendEvent,
} from "../payments/card-processor.ts";
import type { CardPayment } from "./facts.ts";
import { chooseAmount, chooseFrom, type HistoryRelay } from "./history-relay.ts";
import type { HistoryStep } from "./history-step.ts";

const LARGEST_DEPOSIT = 1e9;

async function depositTo(
  relay: HistoryRelay,
  agentId: string,
  body: { readonly amount: number; readonly reference?: string },
): Promise<boolean> {
  const answer = await relay.asOperator("POST", `/api/v1/agents/${agentId}/deposit`, body);
  const isCredited = answer.status === 200 && answer.body["idempotent"] === false;
  if (isCredited) relay.facts.deposited += toMicro(body.amount);
  return isCredited;
}

/** Deposits, sometimes under a reference that was used before. */
const deposit: HistoryStep = (relay, [who, much, name]) => {
  // One account reaches the limit of a balance.
  const isLarge = much % 9 === 5;
  const { agentId } = isLarge ? relay.facts.parties[0]! : relay.chooseParty(who);
  const amount = isLarge ? LARGEST_DEPOSIT : chooseAmount(much, 10_000_000);
  return depositTo(relay, agentId, {
    amount,
    ...(name % 2 === 0 && { reference: `reference ${name % 8}` }),
  });
};

async function sendPayment(relay: HistoryRelay, card: CardPayment): Promise<void> {
  const event = createPaidEvent(relay.t, card.agentId, {
    id: `cs_${card.id}`,
    amount_total: card.cents,
    payment_intent: card.id,
  });
  const sent = sendEvent(relay.t, event, { at: relay.now() });
  const { status } = await relay.report(`card payment ${card.id}`, sent);
  if (status !== 200 || card.isCredited) return;
  card.isCredited = true;
  relay.facts.deposited += card.cents * 10_000;
}

/** Pays by card. The event comes once, again, after a reversal, or after the operator credited it. */
const payByCard: HistoryStep = async (relay, [who, much, kind]) => {
  const { cards } = relay.facts;
  const known = kind % 4 === 0 ? chooseFrom(cards, much) : undefined;
  if (known !== undefined) return sendPayment(relay, known);
  const { agentId } = relay.chooseParty(who);
  const id = `pi_${relay.nextName()}`;
  const card: CardPayment = { id, agentId, cents: 50 + (much % 900), isCredited: false };
  cards.push(card);
  if (kind % 4 === 1) return undefined;
  if (kind % 16 !== 2) return sendPayment(relay, card);
  const body = { amount: card.cents / 100, reference: `stripe:cs_${id}` };
  card.isCredited = await depositTo(relay, agentId, body);
  return undefined;
};

/** Refunds or disputes a part of a card payment. */
const reverseCardPayment: HistoryStep = async (relay, [which, much, kind, order]) => {
  const card = chooseFrom(relay.facts.cards, which);
  if (card === undefined) return;
  const cents = 1 + (much % card.cents);
  const dispute = (type: "created" | "closed", status: string) =>
    createDisputeEvent(card.id, cents, {
      id: `dp_${card.id}_${order % 3}`,
      type,
      status,
      created: (order % 100) + 1,
    });
  const event = chooseFrom(
    [
      createRefundEvent(card.id, cents),
      createRefundEvent(card.id, card.cents),
      dispute("created", "needs_response"),
      dispute("closed", "won"),
      dispute("closed", "lost"),
    ],
    kind,
  )!;
  const sent = sendEvent(relay.t, event, { at: relay.now() });
  await relay.report(`card reversal ${kind % 5} of ${card.id}`, sent);
};

/** Asks for all of a balance, for what is not card money in it, or for any amount. */
const withdraw: HistoryStep = async (relay, [who, much, kind]) => {
  const agent = relay.chooseParty(who);
  const path = `/api/v1/agents/${agent.agentId}`;
  const { body } = await relay.t.asOperator("GET", `${path}/balance`);
  const cardHeld = kind % 2 === 0 ? Number(body["card_held"]) : 0;
  const all = Math.round((Number(body["balance"]) - cardHeld) * 1e6) / 1e6;
  const amount = much % 3 === 0 && all > 0 ? all : chooseAmount(much, 2_000_000);
  const request = { amount: Math.min(amount, LARGEST_DEPOSIT), destination: "IBAN 1" };
  if (agent.revoked) await relay.asOperator("POST", `${path}/withdrawals`, request);
  else await relay.as(agent, "POST", `${path}/withdrawals`, request);
};

/** Pays or fails a withdrawal, sometimes one that was resolved before. */
const resolveWithdrawal: HistoryStep = async (relay, [which, kind, state]) => {
  const found = chooseFrom(
    await relay.list<{ withdrawal_id: string }>(
      `select withdrawal_id from withdrawals
       ${state % 8 === 0 ? "" : "where status = 'pending'"} order by withdrawal_id`,
    ),
    which,
  );
  if (found === undefined) return;
  const path = `/api/v1/admin/withdrawals/${found.withdrawal_id}`;
  if (kind % 2 === 0) {
    await relay.asOperator("POST", `${path}/complete`, { payout_reference: "wire 1" });
  } else await relay.asOperator("POST", `${path}/fail`, { reason: "refused by the bank" });
};

/** Decides an x402 payment whose outcome is unknown. */
const resolvePayment: HistoryStep = async (relay, [which, kind]) => {
  const found = chooseFrom(
    await relay.list<{ proof_hash: string }>(
      `select proof_hash from x402_payments
       where state in ('undecided', 'settling') order by proof_hash`,
    ),
    which,
  );
  if (found === undefined) return;
  const outcome = kind % 2 === 0 ? "settled" : "failed";
  const path = `/api/v1/admin/payments/${found.proof_hash}/resolve`;
  await relay.asOperator("POST", path, { outcome, reason: "as the chain says" });
};

export const moneySteps = {
  deposit,
  payByCard,
  reverseCardPayment,
  withdraw,
  resolveWithdrawal,
  resolvePayment,
} satisfies Record<string, HistoryStep>;
