import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accountOf, FEE_ACCOUNT, type Account } from "../account.ts";
import { fromMicro, toMicro } from "../amount.ts";
import { asMicro, MICRO, type Micro } from "../money.ts";
import {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  buildReleasePostings,
  isBalanced,
  type Posting,
} from "../posting.ts";
import { matchesPostings } from "../settlement-record.ts";
import { computeSettlementAmount } from "../settlement.ts";
import {
  decideInspection,
  expireInspection,
  type Inspection,
  type InspectionEvent,
  type InspectionOutcome,
  openInspection,
} from "./decide-inspection.ts";
import { asMillionths, toMillionths } from "./millionths.ts";
import {
  computeArbitrationFee,
  computeInspectedLock,
  settleInspection,
} from "./settle-inspection.ts";

const [payerId, payeeId, taskId, disputeId] = ["payer", "payee", "task", "dispute"];
const terms = { windowMs: 100, answerMs: 100, decisionMs: 100 };

describe("computeArbitrationFee", () => {
  test.each([
    ["2", 0.05, "0.01", "0.1"],
    ["0.2", 0.05, "0.01", "0.01"],
    ["0.000001", 0.05, "0.01", "0.01"],
    ["0.00001", 0.05, "0", "0.000001"],
    ["0.000009", 0.05, "0", "0"],
    ["1000000000", 0.5, "0.01", "500000000"],
    ["2", 0, "0", "0"],
  ])(
    "computeArbitrationFee takes of %s at the rate %s and at least %s the fee %s",
    (amount, feeRate, feeMin, fee) => {
      const rate = { feeRate, feeMin: toMicro(feeMin) };
      expect(computeArbitrationFee(toMicro(amount), rate)).toBe(toMicro(fee));
    },
  );
});

describe("computeInspectedLock", () => {
  const lock = (estimate: string, available: string, riskFactor?: number) =>
    computeInspectedLock({
      estimate: toMicro(estimate),
      available: toMicro(available),
      feeRate: 0.05,
      feeMin: toMicro("0.01"),
      ...(riskFactor !== undefined && { riskFactor }),
    });

  test.each([
    ["2", "10", undefined, "2.4"],
    ["2", "2.1", undefined, "2.1"],
    ["2", "2.2", undefined, "2.2"],
    ["2", "10", 0, "2.1"],
    ["0.01", "10", undefined, "0.02"],
    ["0.01", "0.02", undefined, "0.02"],
  ])(
    "computeInspectedLock locks for %s with %s available and the risk factor %s: %s",
    (price, available, risk, held) => {
      expect(lock(price, available, risk)).toBe(toMicro(held));
    },
  );

  test.each([
    ["2", "2.099999"],
    ["2", "2"],
    ["0.01", "0.019999"],
  ])("computeInspectedLock refuses a price of %s with %s available", (price, available) => {
    expect(lock(price, available)).toBeNull();
  });
});

/** The price is 2, both fee rates are 0.05; the payer has deposited 10, the payee only its bond. */
const example = {
  taskId,
  disputeId,
  payerId,
  payeeId,
  due: toMicro(2),
  dueStatus: "completed",
  fee: toMicro("0.1"),
  platformFeeRate: 0.05,
} as const;

type Result = InspectionOutcome["result"];
type LostBy = InspectionOutcome["lostBy"];

describe("settleInspection", () => {
  test.each<[Result, share: string, LostBy, hasBond: boolean, amounts: string[]]>([
    // Paid, and the gains or losses of the payer, payee, arbiter and relay.
    ["accepted", "1", null, false, ["2", "-2", "1.9", "0", "0.1"]],
    ["lapsed", "1", null, false, ["2", "-2", "1.9", "0", "0.1"]],
    ["conceded", "0", null, false, ["0", "0", "0", "0", "0"]],
    ["unanswered", "0.5", null, false, ["1", "-1", "0.95", "0", "0.05"]],
    ["decided", "0.75", "submitter", true, ["1.5", "-1.6", "1.425", "0.1", "0.075"]],
    ["decided", "0.25", "executor", true, ["0.5", "-0.5", "0.375", "0.1", "0.025"]],
    ["decided", "0.6", "executor", true, ["1.2", "-1.2", "1.04", "0.1", "0.06"]],
    ["decided", "0.5", null, true, ["1", "-1.05", "0.9", "0.1", "0.05"]],
    ["undecided", "0.5", null, true, ["1", "-1", "0.95", "0", "0.05"]],
    ["accepted", "1", "submitter", true, ["2", "-2.05", "1.9", "0.05", "0.1"]],
    ["conceded", "0", "executor", true, ["0", "0", "-0.05", "0.05", "0"]],
  ])(
    "the settlement of %s %s, lost by %s, with bond: %s, pays %s",
    (result, share, lostBy, hasBond, amounts) => {
      const settled = settleInspection({
        ...example,
        arbiterId: "arbiter",
        bond: hasBond ? example.fee : asMicro(0),
        outcome: { result, share: toMillionths(share), lostBy },
      });
      const [paid = "", ...changes] = amounts;
      expect(settled.paid).toBe(toMicro(paid));
      // An amount of 0 has no posting.
      expect(settled.disputePostings.every(({ amount }) => amount !== 0)).toBe(true);
      const moved = applyPostings(new Map(), [
        ...buildHoldPostings({ payerId, taskId, amount: toMicro("2.1") }),
        ...buildHoldPostings({
          payerId: payeeId,
          taskId: disputeId,
          amount: hasBond ? example.fee : asMicro(0),
        }),
        ...settled.disputePostings,
        ...settled.settlementPostings,
      ]);
      const accounts: Account[] = ["agent:payer", "agent:payee", "agent:arbiter", FEE_ACCOUNT];
      const balanceOf = (account: Account) => moved.get(account) ?? asMicro(0);
      expect(accounts.map((account) => fromMicro(balanceOf(account)))).toEqual(changes.map(Number));
      expect([balanceOf("held:task"), balanceOf("held:dispute")]).toEqual([0, 0]);
    },
  );

  const settle = (due: string, dueStatus: "completed" | "partial", share: string) =>
    settleInspection({
      ...example,
      arbiterId: null,
      due: toMicro(due),
      dueStatus,
      bond: asMicro(0),
      outcome: { result: "unanswered", share: toMillionths(share), lostBy: null },
    });

  test.each([
    ["completed", "1", "completed"],
    ["partial", "1", "partial"],
    ["completed", "0", "refunded"],
    ["partial", "0", "refunded"],
    ["completed", "0.999999", "partial"],
  ] as const)("a %s receipt at the share %s is recorded as %s", (dueStatus, share, status) => {
    expect(settle("2", dueStatus, share).status).toBe(status);
  });

  test("the amount, not the share, decides the record when a micro-unit is indivisible", () => {
    expect(settle("0.000001", "completed", "0.5")).toMatchObject({ status: "completed", paid: 1 });
    expect(settle("0.000001", "completed", "0.4")).toMatchObject({ status: "refunded", paid: 0 });
  });

  test("the odd micro-unit of an even case is paid out of the submitter's half", () => {
    const even = { result: "decided", share: toMillionths("0.5"), lostBy: null } as const;
    const fee = asMicro(7);
    const { arbitration } = settleInspection({
      ...example,
      arbiterId: null,
      fee,
      bond: fee,
      outcome: even,
    });
    expect(arbitration).toEqual({ submitter: 4, executor: 3 });
  });

  test("the arbitration of the operator is credited to the relay as a fee", () => {
    const { disputePostings } = settleInspection({
      ...example,
      arbiterId: null,
      bond: example.fee,
      outcome: { result: "decided", share: toMillionths(1), lostBy: "submitter" },
    });
    expect(disputePostings.at(-1)).toEqual({
      account: FEE_ACCOUNT,
      type: "fee",
      amount: example.fee,
    });
  });

  test("settleInspection throws for a bond that is neither 0 nor the fee", () => {
    const outcome = { result: "undecided", share: toMillionths("0.5"), lostBy: null } as const;
    const wrong = { ...example, arbiterId: null, bond: asMicro(5), outcome };
    expect(() => settleInspection(wrong)).toThrow(RangeError);
  });
});

const share = fc.integer({ min: 0, max: MICRO }).map(asMillionths);
const offer = fc.integer({ min: 0, max: MICRO - 1 }).map(asMillionths);
const arbiter = fc.constantFrom("agent" as const, "operator" as const);
const event: fc.Arbitrary<InspectionEvent> = fc.oneof(
  fc.constantFrom({ type: "accepted" as const }, { type: "conceded" as const }),
  fc.record({ type: fc.constant("rejected" as const), offer }),
  fc.record({ type: fc.constant("contested" as const), arbiter }),
  fc.record({ type: fc.constant("decided" as const), share, by: arbiter }),
);
const acts = fc.array(fc.tuple(event, fc.nat(120)), { maxLength: 12 });
const ledger = fc.option(
  fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat(9)).map(([total, done]) => ({
    total,
    completed: Math.min(total, done),
  })),
  { nil: undefined },
);
const price = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: 9_000_000 }),
  fc.integer({ min: 1, max: 1_000_000_000_000_000 }),
);

/** Moves money in one movement and fails if an account of the relay falls below 0 within it. */
function move(balances: Map<Account, Micro>, postings: readonly Posting[]): Map<Account, Micro> {
  expect(isBalanced(postings)).toBe(true);
  let after = balances;
  for (const posting of postings) {
    after = applyPostings(after, [posting]);
    const isOverdrawn = posting.account !== "world" && (after.get(posting.account) ?? 0) < 0;
    expect(isOverdrawn).toBe(false);
  }
  return after;
}

test("an inspection keeps all money and overdraws no account, for any price, ledger, rate and order of acts", () => {
  fc.assert(
    fc.property(
      fc.record({
        price,
        ledger,
        acts,
        feePpm: fc.integer({ min: 0, max: 500_000 }),
        feeMin: fc.integer({ min: 0, max: 100 * MICRO }),
        platformPpm: fc.integer({ min: 0, max: 999_999 }),
        spare: fc.nat(MICRO),
      }),
      ({ acts: planned, ...input }) => {
        const estimate = asMicro(input.price);
        const rate = { feeRate: input.feePpm / MICRO, feeMin: asMicro(input.feeMin) };
        const least = asMicro(estimate + computeArbitrationFee(estimate, rate));
        const deposit = asMicro(least + input.spare);
        const locked = computeInspectedLock({ estimate, available: deposit, ...rate }) ?? least;
        const earned = computeSettlementAmount({
          status: "completed",
          charge: estimate,
          steps: input.ledger,
        });
        const due = earned.amount;
        // A receipt that earned nothing is refunded at once and has no inspection.
        fc.pre(due > 0);
        const fee = computeArbitrationFee(due, rate);

        let balances = new Map<Account, Micro>();
        for (const agentId of [payerId, payeeId]) {
          balances = move(balances, buildDepositPostings({ agentId, amount: deposit }));
        }
        balances = move(balances, buildHoldPostings({ payerId, taskId, amount: locked }));
        const rest = asMicro(locked - due - fee);
        balances = move(balances, buildReleasePostings({ payerId, taskId, amount: rest }));

        let now = 0;
        let inspection: Inspection = openInspection(terms, now);
        for (const [act, ms] of planned) {
          now += ms;
          const decision = decideInspection(inspection, act, terms, now);
          if (!decision.ok) continue;
          if (act.type === "contested") {
            const bond = buildHoldPostings({ payerId: payeeId, taskId: disputeId, amount: fee });
            balances = move(balances, bond);
          }
          inspection = decision.inspection;
        }
        inspection = expireInspection(inspection, terms, now + 1_000);
        const { outcome } = inspection;
        if (outcome === null) throw new Error("every inspection ends by itself");
        const settled = settleInspection({
          taskId,
          disputeId,
          payerId,
          payeeId,
          arbiterId: inspection.arbiter === "agent" ? "arbiter" : null,
          due,
          dueStatus: earned.status,
          fee,
          bond: inspection.arbiter === null ? asMicro(0) : fee,
          platformFeeRate: input.platformPpm / MICRO,
          outcome,
        });
        balances = move(balances, settled.disputePostings);
        balances = move(balances, settled.settlementPostings);

        const { paid, net, platformFee, arbitration } = settled;
        const changeOf = (agentId: string) =>
          (balances.get(accountOf.agent(agentId)) ?? 0) - deposit;
        expect([...balances.values()].reduce((sum, balance) => sum + balance, 0)).toBe(0);
        expect(balances.get("held:task") ?? 0).toBe(0);
        expect(balances.get("held:dispute") ?? 0).toBe(0);
        expect(changeOf(payerId)).toBe(0 - paid - arbitration.submitter);
        expect(changeOf(payeeId)).toBe(net - arbitration.executor);
        expect(changeOf(payeeId)).toBeLessThanOrEqual(due);
        expect(net + platformFee).toBe(paid);
        const arbitrated = arbitration.submitter + arbitration.executor;
        expect(arbitrated).toBeLessThanOrEqual(fee);
        const toArbiter = balances.get("agent:arbiter") ?? 0;
        const toRelay = balances.get(FEE_ACCOUNT) ?? 0;
        expect(toArbiter + toRelay).toBe(arbitrated + platformFee);
        const record = { amount: paid, fee: platformFee, net, payerId, payeeId };
        expect(matchesPostings(record, settled.settlementPostings)).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});
