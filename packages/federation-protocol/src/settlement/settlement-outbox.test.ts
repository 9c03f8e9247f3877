import { describe, expect, it } from "vitest";
import { NOW, SCHEDULE, buildOutboundTask } from "../../test/messages.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { ReportedSettlements } from "../messages/settlement.ts";
import { createRetrySchedule } from "../delivery/retry-schedule.ts";
import {
  createOutgoingSettlement,
  type OutgoingSettlement,
  getSettlementPayable,
  isSettlementResolved,
  repeatPaidSettlement,
} from "./outgoing-settlement.ts";
import {
  beginAsk,
  beginAttempt,
  endAsk,
  endAttempt,
  refundHeldSettlement,
  getNextStep,
  capSettlementDelay,
  redriveSettlement,
} from "./settlement-outbox.ts";

const unknown: Delivery = { kind: "unknown" };
const unreachable: Delivery = { kind: "unreachable" };
const answered = (
  status: number,
  more: { readonly code?: string; readonly retryAfterMs?: number | undefined } = {},
): Delivery => ({ kind: "answered", status, ...more });
const completed = { ...buildOutboundTask({ state: "completed" }), receiptHash: "ab".repeat(32) };
const settlementId = "0199c800-0000-7000-8000-000000000002";

const open = (refundable = true) =>
  createOutgoingSettlement(completed, { settlementId, now: NOW, refundable });
const booked: ReportedSettlements = {
  settlements: [{ settlement_id: settlementId, task_id: completed.taskId, status: "settled" }],
};
const nothing: ReportedSettlements = { settlements: [] };

/** Runs each attempt at its time with the given end; returns the settlement and the final time. */
function run(settlement: OutgoingSettlement, ...ends: readonly Delivery[]) {
  let now = settlement.dueAt ?? NOW;
  const after = ends.reduce((state, end) => {
    now = state.dueAt ?? now;
    expect(getNextStep(state, now - 1)).toBeNull();
    expect(getNextStep(state, now)).toBe("forward");
    return endAttempt(beginAttempt(state, SCHEDULE, now), end, { ...SCHEDULE, now });
  }, settlement);
  return { after, now };
}

function ask(
  settlement: OutgoingSettlement,
  list: ReportedSettlements | null,
  delivery = list === null ? unknown : answered(200),
) {
  const now = settlement.dueAt ?? NOW;
  expect(getNextStep(settlement, now)).toBe("ask");
  return endAsk(beginAsk(settlement, SCHEDULE, now), list, { ...SCHEDULE, delivery, now });
}

const times = { ...SCHEDULE, delivery: answered(200), now: NOW };

const six = <T>(end: T) => Array.from({ length: 6 }, () => end);
const exhausted = (refundable = true) => run(open(refundable), ...six(unknown)).after;

describe("settlements in the outbox", () => {
  it("a settlement is sent at once, then after 30 s, 2 min, 8 min, 32 min and 2 h", () => {
    const times: number[] = [];
    let settlement = open();
    while (settlement.phase === "forwarding") {
      const now = settlement.dueAt ?? 0;
      times.push(now - NOW);
      settlement = beginAttempt(settlement, SCHEDULE, now);
    }
    expect(times).toEqual([0, 30_000, 150_000, 630_000, 2_550_000, 9_750_000]);
  });

  it.each([0, 1, 4, 5])(
    "a settlement is completed by a confirmation after %s lost answers",
    (lost) => {
      const { after } = run(open(), ...Array.from({ length: lost }, () => unknown), answered(200));
      expect(after).toMatchObject({ state: "completed", resolution: "paid", dueAt: null });
    },
  );

  // A 404 without a code is that of a proxy.
  it.each([202, 402, 403, 404, 429, 500, 503])(
    "a settlement is sent again after an answer of %s",
    (status) => {
      expect(run(open(), answered(status)).after).toMatchObject({
        state: "pending",
        phase: "forwarding",
      });
    },
  );

  it("a settlement is sent again after a refusal for lack of credit, because it may be accepted later", () => {
    const refusal = answered(402, { code: "clearing.limit_exceeded" });
    const { after, now } = run(open(), refusal);
    expect(after).toMatchObject({ state: "pending", phase: "forwarding", dueAt: now + 30_000 });
  });

  it.each([400, 404, 409])(
    "a settlement is not sent again after an answer of %s, and the peer is asked later",
    (status) => {
      const refusal = answered(status, { code: "request.invalid" });
      const { after, now } = run(open(), unknown, refusal);
      expect(after).toMatchObject({ state: "pending", phase: "asking", dueAt: now + 600_001 });
    },
  );

  it("a settlement is not refunded after a lost answer: the peer is asked 10 minutes after the last attempt (F17)", () => {
    const { after, now } = run(open(), ...six(unknown));
    expect(after).toMatchObject({ state: "pending", phase: "asking", resolution: null });
    expect(getNextStep(after, now + 600_000)).toBeNull();
    expect(getNextStep(after, now + 600_001)).toBe("ask");
  });

  it.each([
    ["booked it", booked, "completed", "paid"],
    ["did not book it", nothing, "failed", "refunded"],
  ] as const)(
    "a settlement is decided when the peer states that it %s (F17)",
    (_, list, state, resolution) => {
      expect(ask(exhausted(), list)).toMatchObject({ state, resolution, dueAt: null });
    },
  );

  it.each([
    { settlement_id: "other", task_id: completed.taskId },
    { settlement_id: settlementId, task_id: "other" },
    { settlement_id: settlementId, status: "failed" },
  ])("a settlement is not booked because the peer lists %o", (settlement) => {
    expect(ask(exhausted(), { settlements: [settlement] }).resolution).toBe("refunded");
  });

  it("a settlement is booked if the peer lists its id with any other members", () => {
    const list = { settlements: [{ settlement_id: settlementId }] };
    expect(ask(exhausted(), list).resolution).toBe("paid");
  });

  it("a settlement needs no further step once it is decided", () => {
    const paid = { ...run(open(), answered(200)).after, dueAt: NOW };
    expect(getNextStep(paid, NOW)).toBeNull();
    expect(getNextStep({ ...open(), dueAt: null }, NOW)).toBeNull();
  });

  it("a settlement is held for the operator after three requests without an answer", () => {
    const once = ask(exhausted(), null);
    expect(once).toMatchObject({ state: "pending", resolution: null });
    const thrice = ask(ask(once, null), null);
    expect(thrice).toMatchObject({ state: "failed", resolution: "held", dueAt: null });
    expect(getSettlementPayable(thrice)).toBe(950_000);
  });

  const { taskId: task_id, receiptHash: receipt_hash } = completed;
  const earlier = { settlement_id: "another", task_id, receipt_hash, amount: 0.95 };

  it.each([
    ["of this task, receipt and amount, from before a restore: paid", {}, "paid"],
    ["of another task: not paid", { task_id: "other" }, "refunded"],
    ["without a task: not paid", { task_id: undefined }, "refunded"],
    ["of another receipt: not paid", { receipt_hash: "cd".repeat(32) }, "refunded"],
    ["of another amount: not paid", { amount: 0.94 }, "refunded"],
    ["with the amount as a text: not paid", { amount: "0.95" }, "refunded"],
    ["that failed: not paid", { status: "failed" }, "refunded"],
  ])("A8: a settlement is decided by a listed one %s", (_, change, resolution) => {
    const list = { settlements: [{ ...earlier, ...change }] } as ReportedSettlements;
    expect(ask(exhausted(), list).resolution).toBe(resolution);
  });

  it("a settlement is refunded without asking when no attempt ever got a connection", () => {
    expect(run(open(), ...six(unreachable)).after).toMatchObject({
      state: "failed",
      resolution: "refunded",
    });
  });

  it("the peer is asked about a settlement if a single attempt may have arrived", () => {
    const { after } = run(open(), unknown, ...six(unreachable).slice(1));
    expect(after).toMatchObject({ state: "pending", phase: "asking" });
  });

  it("a settlement counts as one that may have arrived after a crash during an attempt", () => {
    const crashed = beginAttempt(open(), SCHEDULE, NOW);
    const { after } = run(crashed, ...six(unreachable).slice(1));
    expect(after).toMatchObject({ state: "pending", phase: "asking" });
  });

  it("a settlement is not paid by a confirmation after its refund (F17)", () => {
    const refunded = ask(exhausted(), nothing);
    expect(endAttempt(refunded, answered(200), { ...SCHEDULE, now: NOW })).toBe(refunded);
    expect(endAttempt(refunded, unknown, { ...SCHEDULE, now: NOW })).toBe(refunded);
    expect(endAsk(refunded, booked, times)).toBe(refunded);
  });
});

describe("The operator", () => {
  const held = ask(ask(ask(exhausted(), null), null), null);

  it("the operator restarts a held settlement, which still counts as one that may have arrived", () => {
    const again = redriveSettlement(held, NOW);
    expect(again).toMatchObject({ state: "pending", resolution: null, dueAt: NOW });
    expect(run(again, ...six(unreachable)).after).toMatchObject({
      phase: "asking",
      state: "pending",
    });
    expect(run(again, answered(200)).after.resolution).toBe("paid");
  });

  it("the operator gives up a held settlement and so refunds its payer", () => {
    expect(refundHeldSettlement(held)).toMatchObject({ state: "failed", resolution: "refunded" });
    expect(getSettlementPayable(refundHeldSettlement(held))).toBe(0);
  });

  it("the operator's restart is not overruled by a question from before it", () => {
    const again = redriveSettlement(held, NOW);
    expect(endAsk(again, nothing, times)).toBe(again);
  });

  it("the operator sees a payment that was confirmed after all", () => {
    expect(endAttempt(held, answered(200), { ...SCHEDULE, now: NOW }).resolution).toBe("paid");
  });

  it.each([
    ["pending", open()],
    ["paid", run(open(), answered(200)).after],
    ["refunded", ask(exhausted(), nothing)],
  ])("the operator cannot change a settlement that is %s", (_, settlement) => {
    expect(redriveSettlement(settlement, NOW)).toBe(settlement);
    expect(refundHeldSettlement(settlement)).toBe(settlement);
  });
});

describe("intermediate relays", () => {
  it("an intermediate relay was paid for the task, and so retries where an origin would refund", () => {
    const anew = ask(exhausted(false), nothing);
    expect(anew).toMatchObject({ state: "pending", phase: "forwarding", rounds: 1 });
    expect(run(anew, answered(200)).after.resolution).toBe("paid");
  });

  it("an intermediate relay leaves a settlement to the operator after three rounds", () => {
    const rounds = [1, 2, 3].reduce(
      (settlement) => ask(run(settlement, ...six(unknown)).after, nothing),
      open(false),
    );
    expect(rounds).toMatchObject({ state: "failed", resolution: "held" });
  });
});

it("all times of the schedule are scaled by the same factor", () => {
  expect(createRetrySchedule(0.001)).toEqual({
    pauses: [30, 120, 480, 1_920, 7_200],
    lifetimeMs: 300,
    settleDownMs: 600,
    holdMs: 2 * (9_750 + 600),
  });
});

describe("A8: a settlement whose peer is frozen", () => {
  const frozen: Delivery = { kind: "answered", status: 503, code: "server.frozen" };
  const day = 24 * 60 * 60 * 1_000;

  it("a settlement whose peer is frozen counts no attempt and is sent again after the same pause", () => {
    const { after, now } = run(open(), ...six(frozen), ...six(frozen));
    expect(after).toMatchObject({ state: "pending", attempts: 0, attemptsInRound: 0 });
    expect(after).toMatchObject({ phase: "forwarding", dueAt: now + 30_000 });
    expect(run(after, answered(200)).after).toMatchObject({ resolution: "paid" });
  });

  it("a settlement whose peer is frozen keeps its earlier attempts, also at the last one", () => {
    const { after } = run(open(), ...six(unknown).slice(1), frozen, frozen);
    expect(after).toMatchObject({ attempts: 5, attemptsInRound: 5, phase: "forwarding" });
    expect(run(after, unknown).after).toMatchObject({ attempts: 6, phase: "asking" });
  });

  it("a settlement whose peer is frozen never counts as undelivered while an earlier copy may have arrived", () => {
    const { after } = run(open(), unknown, frozen, ...six(unreachable).slice(1));
    expect(after).toMatchObject({ state: "pending", phase: "asking", attempts: 6, unreached: 5 });
  });

  it("a frozen peer's answers count as attempts like any 503 after 7 days, or it could hold the money indefinitely", () => {
    const late = { ...open(), dueAt: NOW + 7 * day };
    expect(run(late, frozen).after).toMatchObject({ attempts: 1, attemptsInRound: 1 });
    expect(run({ ...late, dueAt: NOW + 7 * day - 1 }, frozen).after).toMatchObject({ attempts: 0 });
  });

  it("a peer that fails with the code of a frozen one does not count as frozen", () => {
    const failed: Delivery = { kind: "answered", status: 500, code: "server.frozen" };
    expect(run(open(), failed).after).toMatchObject({ attempts: 1, attemptsInRound: 1 });
  });

  it("a decided settlement is not reopened by a late answer", () => {
    const decided = ask(exhausted(), booked);
    expect(endAttempt(decided, frozen, { ...SCHEDULE, now: NOW })).toBe(decided);
  });
});

describe("An attempt that its peer defers", () => {
  const day = 24 * 60 * 60 * 1_000;
  const busy = (retryAfterMs?: number): Delivery => answered(429, { retryAfterMs });

  it.each<[string, Delivery, used: number]>([
    ["429 is not used up", answered(429), 0],
    ["503 is not used up", answered(503), 0],
    ["503 of a draining relay is not used up", answered(503, { code: "server.draining" }), 0],
    ["403 is used up, because only an operator can change the cause", answered(403), 1],
    ["402 is used up", answered(402), 1],
    ["500 is used up", answered(500), 1],
    ["nothing is used up", unknown, 1],
  ])("an attempt that is answered with %s", (_, delivery, used) => {
    expect(run(open(), delivery).after.attemptsInRound).toBe(used);
  });

  it.each<[string, number | undefined, pause: number]>([
    ["after the same pause if it names none", undefined, 30_000],
    ["after the same pause if it names a shorter one", 1_000, 30_000],
    ["after the pause that it names", 60_000, 60_000],
    ["after the longest pause of the schedule if it names a longer one", day, 7_200_000],
  ])("an attempt that its peer defers is repeated %s", (_, retryAfterMs, pause) => {
    const { after, now } = run(open(), busy(retryAfterMs));
    expect(after).toMatchObject({ phase: "forwarding", dueAt: now + pause });
  });

  it("a settlement leads to no refund, however often it is deferred, and is paid in the end", () => {
    const { after } = run(open(), ...Array.from({ length: 100 }, () => busy(60_000)));
    expect(after).toMatchObject({ state: "pending", resolution: null, phase: "forwarding" });
    expect(run(after, answered(200)).after.resolution).toBe("paid");
  });

  it("an attempt that its peer defers may have arrived, because a proxy can answer in the place of its peer", () => {
    const { after } = run(open(), busy(), ...six(unreachable));
    expect(after).toMatchObject({ state: "pending", phase: "asking" });
  });

  it("a deferred attempt is used up from 7 days after the settlement on, so the operator decides in the end", () => {
    const inTime = { ...open(), dueAt: NOW + 7 * day - 1 };
    expect(run(inTime, busy()).after.attemptsInRound).toBe(0);
    const late = run({ ...open(), dueAt: NOW + 7 * day }, ...six(busy())).after;
    expect(late).toMatchObject({ phase: "asking", attemptsInRound: 6 });
    const asked = [1, 2, 3].reduce((settlement) => ask(settlement, null, busy()), late);
    expect(asked).toMatchObject({ state: "failed", resolution: "held" });
  });

  it("a question that the peer defers is repeated for the same time as an attempt", () => {
    const once = ask(exhausted(), null, busy(60_000));
    expect(once).toMatchObject({ state: "pending", asks: 0 });
    expect(once.dueAt).toBe((exhausted().dueAt ?? 0) + 60_000);
    expect(ask(once, booked).resolution).toBe("paid");
    expect(ask(exhausted(), null, answered(500)).asks).toBe(1);
  });
});

describe("settlements after the clock was set back", () => {
  const LONGEST = 7_200_000;
  it.each([
    ["at a wrong time is due after the longest pause", 3 * 86_400_000, LONGEST],
    ["in time is due as before", LONGEST, LONGEST],
    ["now is due now", 0, 0],
  ])("a settlement whose next step is %s", (_, ahead, left) => {
    const settlement = { ...open(), dueAt: NOW + ahead };
    expect(capSettlementDelay(settlement, times).dueAt).toBe(NOW + left);
  });

  it("a settlement without a next step gets none", () => {
    const settlement = { ...open(), dueAt: null };
    expect(capSettlementDelay(settlement, times)).toBe(settlement);
  });
});

describe("what a settlement still does", () => {
  const paid = run(open(), answered(200)).after;
  const refunded = ask(exhausted(), nothing);
  const held = ask(ask(ask(exhausted(), null), null), null);

  it.each<[string, OutgoingSettlement, owes: boolean, isResolved: boolean, isRepeated: boolean]>([
    ["pending", open(), true, false, false],
    ["held for the operator", held, true, false, false],
    ["paid", paid, false, true, true],
    ["refunded", refunded, false, true, false],
  ])(
    "a settlement that is %s owes its amount, is resolved and is repeated as specified",
    (_, settlement, owes, isResolved, isRepeated) => {
      expect(getSettlementPayable(settlement)).toBe(owes ? settlement.terms.net : 0);
      expect(isSettlementResolved(settlement)).toBe(isResolved);
      const repeated = isRepeated ? { ...settlement, lastAttemptAt: NOW + 9 } : null;
      expect(repeatPaidSettlement(settlement, NOW + 9)).toEqual(repeated);
    },
  );

  it("a settlement names the on-chain payment of its task, and names none without one", () => {
    const x402 = { txHash: "0xab", network: "eip155:8453" };
    const given = { settlementId, now: NOW, refundable: true };
    expect(createOutgoingSettlement(completed, { ...given, x402 }).x402).toEqual(x402);
    expect(Object.keys(createOutgoingSettlement(completed, given))).not.toContain("x402");
  });

  it("the peer is asked again after the pauses of the attempts", () => {
    const first = beginAsk(exhausted(), SCHEDULE, NOW);
    const second = beginAsk(first, SCHEDULE, NOW);
    expect([first.dueAt, second.dueAt]).toEqual([NOW + 30_000, NOW + 120_000]);
  });
});
