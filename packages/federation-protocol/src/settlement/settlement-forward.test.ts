import { asMicro, toMicro } from "@agent/budget";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  alpha,
  beta,
  gamma,
  NOW,
  buildOutboundTask,
  buildInboundTask,
  TERMS,
} from "../../test/messages.ts";
import { computeTerms } from "./settlement-terms.ts";
import type { InboundTask } from "../forwarding/inbound-task.ts";
import { SettlementForwardSchema } from "../messages/settlement.ts";
import {
  createSettlementForward,
  checkSettlement,
  type SettlementContext,
} from "./settlement-forward.ts";
import { createRetrySchedule } from "../delivery/retry-schedule.ts";
import { createOutgoingSettlement } from "./outgoing-settlement.ts";
import { beginAttempt } from "./settlement-outbox.ts";
import { verifySignedMessage } from "../signing/signed-message.ts";

const SETTLEMENT = "0199c800-0000-7000-8000-000000000002";
const owed = createOutgoingSettlement(
  { ...buildOutboundTask({ state: "completed" }), receiptHash: "ab".repeat(32) },
  { settlementId: SETTLEMENT, now: NOW, refundable: true },
);
const message = createSettlementForward(owed, { self: alpha.id, secretKey: alpha.secretKey });
const returned = buildInboundTask({
  state: "returning",
  receiptStatus: "completed",
  receiptHash: "ab".repeat(32),
});
const context: SettlementContext = {
  from: alpha.id,
  now: NOW,
  feeRate: 0.05,
  clearing: { balance: asMicro(-950_000), limit: asMicro(950_000) },
};

describe("settlements", () => {
  it("a settlement is signed by the relay that pays", () => {
    const read = verifySignedMessage(SettlementForwardSchema, message, alpha.publicKey);
    expect(read).toEqual({ ok: true, message });
    const forged = verifySignedMessage(
      SettlementForwardSchema,
      { ...message, amount: 2 },
      alpha.publicKey,
    );
    expect(forged).toEqual({ ok: false, code: "federation.signature_invalid" });
  });

  it("a settlement has the time of its attempt, not that of sending, and its lifetime is counted from it", () => {
    const begun = beginAttempt(owed, createRetrySchedule(), NOW + 30_000);
    const sent = createSettlementForward(begun, { self: alpha.id, secretKey: alpha.secretKey });
    expect(sent.timestamp).toBe(NOW + 30_000);
    expect(sent.settled_at).toBe(NOW);
  });

  it("a settlement pays the next relay and the agent: 1.00 -> 0.05, 0.0475, 0.9025", () => {
    expect(message).toMatchObject({ gross_amount: 1, fee_amount: 0.05, amount: 0.95 });
    const checked = checkSettlement(returned, message, context);
    expect(checked).toMatchObject({
      ok: true,
      repeated: false,
      held: true,
      booked: { gross: 950_000, fee: 47_500, net: 902_500 },
      answer: {
        status: "settled",
        settlement_id: SETTLEMENT,
        fee_amount: 0.0475,
        net_amount: 0.9025,
      },
      // A settlement proves that its sender has accepted the result.
      task: { state: "completed", hold: "settled", dueAt: null },
    });
  });

  it("a settlement is booked once and gets the same answer at each repetition (F4, F16)", () => {
    const first = checkSettlement(returned, message, context);
    if (!first.ok) throw new Error(first.code);
    const later = { ...context, now: NOW + 10_000_000, feeRate: 0.5 };
    expect(checkSettlement(first.task, message, later)).toEqual({
      ...first,
      repeated: true,
      held: false,
    });
  });

  const settled = checkSettlement(returned, message, context);
  const other = { ...message, settlement_id: "0199c800-0000-7000-8000-000000000003" };
  it.each<[string, InboundTask | null, typeof message, Partial<SettlementContext>, string]>([
    ["for a task that never came", null, message, {}, "settlement.not_owed"],
    [
      "for a task of another peer",
      { ...returned, peerId: gamma.id },
      message,
      {},
      "settlement.not_owed",
    ],
    [
      "in another relay's name",
      returned,
      { ...message, origin_relay: gamma.id },
      {},
      "federation.wrong_sender",
    ],
    [
      "under another id for a settled task",
      settled.ok ? settled.task : null,
      other,
      {},
      "settlement.already_settled",
    ],
    [
      "if it is older than 5 minutes",
      returned,
      message,
      { now: NOW + 300_001 },
      "federation.timestamp_expired",
    ],
    ["of a task that still runs", buildInboundTask(), message, {}, "settlement.not_completed"],
    [
      "of a task that failed",
      { ...returned, receiptStatus: "failed" },
      message,
      {},
      "settlement.not_completed",
    ],
    ["of a void task", { ...returned, state: "void" }, message, {}, "settlement.not_completed"],
    [
      "of a higher amount",
      returned,
      { ...message, amount: 1, gross_amount: 1.05 },
      {},
      "settlement.amount_mismatch",
    ],
    ["of a lower amount", returned, { ...message, amount: 0.9 }, {}, "settlement.amount_mismatch"],
    [
      "with parts that do not add up",
      returned,
      { ...message, fee_amount: 0.06 },
      {},
      "settlement.amount_mismatch",
    ],
    [
      "for another receipt",
      returned,
      { ...message, receipt_hash: "cd".repeat(32) },
      {},
      "settlement.receipt_mismatch",
    ],
    [
      "for another agent",
      returned,
      { ...message, agent_id: gamma.id },
      {},
      "settlement.receipt_mismatch",
    ],
    [
      "beyond the limit after its hold has expired",
      { ...returned, hold: "released" },
      message,
      {},
      "clearing.limit_exceeded",
    ],
  ])("a settlement is refused %s (F16)", (_, task, sent, change, code) => {
    expect(checkSettlement(task, sent, { ...context, ...change })).toEqual({ ok: false, code });
  });

  it.each([
    ["alone", 950_000, true],
    ["beside another one", 1_450_000, false],
  ])("a late settlement replaces the credit that its task used up %s", (_, undecided, ok) => {
    const clearing = {
      balance: asMicro(0),
      limit: asMicro(950_000),
      undecided: asMicro(undecided),
    };
    const task = { ...returned, state: "returning" as const, hold: "released" as const };
    expect(checkSettlement(task, message, { ...context, clearing }).ok).toBe(ok);
  });

  it("a settlement is booked from the peer's account after its hold expired, within the credit limit", () => {
    const clearing = { balance: asMicro(0), limit: asMicro(950_000) };
    const task = { ...returned, hold: "released" as const };
    expect(checkSettlement(task, message, { ...context, clearing })).toMatchObject({
      ok: true,
      held: false,
    });
  });
});

describe("A8: a settlement in the answer to a result", () => {
  const LIFETIME = 300_000;
  const task = { ...returned, hold: "released" as const };
  const clearing = { balance: asMicro(0), limit: asMicro(950_000) };

  it.each([
    ["by the slowest allowed clock, in a slow answer, is booked", -LIFETIME, 10_000, true],
    [
      "by the fastest allowed clock, as the answer is sent, is booked",
      LIFETIME + 10_000,
      10_000,
      true,
    ],
    [
      "at once, in an answer that took longer than the lifetime of a signed time, is booked",
      0,
      LIFETIME + 1,
      true,
    ],
    [
      "before the sending of the result by more than the lifetime of a signed time, is refused",
      -LIFETIME - 1,
      0,
      false,
    ],
    [
      "later than the answer by more than the allowed clock difference, is refused",
      LIFETIME + 10_001,
      10_000,
      false,
    ],
  ])("a settlement in an answer that is signed %s", (_, signedAfter, tookMs, isBooked) => {
    const signed = { ...message, timestamp: NOW + signedAfter };
    const times = { askedAt: NOW, now: NOW + tookMs };
    const checked = checkSettlement(task, signed, { ...context, clearing, ...times });
    const refused = { ok: false, code: "federation.timestamp_expired" };
    expect(checked).toMatchObject(isBooked ? { ok: true, held: false } : refused);
  });
});

describe("A9: the settlement of a default", () => {
  const clearing = { balance: asMicro(0), limit: asMicro(0), defaulted: asMicro(950_000) };

  it("the settlement of a default needs no new credit, because the amount already counts as owed", () => {
    const task = { ...returned, hold: "defaulted" as const };
    expect(checkSettlement(task, message, { ...context, clearing })).toMatchObject({
      ok: true,
      held: false,
      task: { hold: "settled" },
    });
  });

  it("the settlement of a default needs credit like any other late one if the operator has cleared the default", () => {
    const task = { ...returned, hold: "released" as const };
    const cleared = { ...clearing, defaulted: asMicro(0) };
    expect(checkSettlement(task, message, { ...context, clearing: cleared })).toEqual({
      ok: false,
      code: "clearing.limit_exceeded",
    });
  });
});

describe("Fees along a chain of relays (F18)", () => {
  const path = new URL("../../../../vectors/own/money.json", import.meta.url);
  const { fee_chain: chains } = JSON.parse(readFileSync(path, "utf8")) as {
    fee_chain: readonly {
      readonly budget: string;
      readonly fee_rate: string;
      readonly hops: number;
      readonly agent_receives_exact: string;
    }[];
  };

  it.each(chains)(
    "the fees of a chain add up for $budget at $fee_rate over $hops relays",
    (chain) => {
      const gross = toMicro(chain.budget);
      let fees = 0;
      let rest = gross;
      for (let hop = 0; hop < chain.hops; hop += 1) {
        const { fee, net } = computeTerms(rest, Number(chain.fee_rate));
        fees += fee;
        rest = net;
      }
      expect(fees + rest).toBe(gross);
      // Each relay rounds its fee to a millionth.
      const exact = Number(chain.agent_receives_exact) * 1e6;
      expect(Math.abs(rest - exact)).toBeLessThanOrEqual(chain.hops * 0.5 + 0.01);
    },
  );
});

it("a settlement pays the peer to which the task was sent", () => {
  expect(message.to).toBe(beta.id);
  expect(owed.terms).toEqual(TERMS);
});
