import { describe, expect, test } from "vitest";
import { accountOf, FEE_ACCOUNT, EXTERNAL_ACCOUNT } from "./account.ts";
import { toMicro } from "./amount.ts";
import { asMicro, negate } from "./money.ts";
import {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  isBalanced,
  buildPayoutPostings,
  buildReleasePostings,
  buildReturnPostings,
  buildSettlementPostings,
  buildWithdrawalPostings,
  type Posting,
} from "./posting.ts";

const rows = (postings: readonly Posting[]) =>
  postings.map(({ account, type, amount }) => [account, type, amount / 1_000_000]);
const settled = {
  payerId: "ann",
  payeeId: "bob",
  taskId: "t1",
  locked: toMicro("2.4"),
  charge: toMicro(2),
  fee: toMicro("0.1"),
};

describe("Every movement is postings that sum to zero", () => {
  test("a deposit comes from the world", () => {
    expect(rows(buildDepositPostings({ agentId: "ann", amount: toMicro(10) }))).toEqual([
      ["world", "deposit", -10],
      ["agent:ann", "deposit", 10],
    ]);
  });

  test("a hold leaves the payer for the task, and a release is its mirror", () => {
    const hold = { payerId: "ann", taskId: "t1", amount: toMicro("2.4") };
    expect(rows(buildHoldPostings(hold))).toEqual([
      ["agent:ann", "allocation_hold", -2.4],
      ["held:t1", "allocation_hold", 2.4],
    ]);
    expect(rows(buildReleasePostings(hold))).toEqual([
      ["held:t1", "allocation_release", -2.4],
      ["agent:ann", "allocation_release", 2.4],
    ]);
  });

  test("a withdrawal is set aside first, then leaves for the world or goes back", () => {
    const asked = { agentId: "ann", withdrawalId: "w1", amount: toMicro(3) };
    expect(rows(buildWithdrawalPostings(asked))).toEqual([
      ["agent:ann", "withdrawal", -3],
      ["held:w1", "withdrawal", 3],
    ]);
    expect(rows(buildPayoutPostings(asked))).toEqual([
      ["held:w1", "withdrawal", -3],
      ["world", "withdrawal", 3],
    ]);
    expect(rows(buildReturnPostings(asked))).toEqual([
      ["held:w1", "withdrawal", -3],
      ["agent:ann", "withdrawal", 3],
    ]);
  });

  test("a settlement releases the hold, debits the price, credits the net and keeps the fee", () => {
    expect(rows(buildSettlementPostings(settled))).toEqual([
      ["held:t1", "allocation_release", -2.4],
      ["agent:ann", "allocation_release", 2.4],
      ["agent:ann", "settlement_debit", -2],
      ["agent:bob", "settlement_credit", 1.9],
      ["relay:fees", "fee", 0.1],
    ]);
  });

  test("a settlement without a fee writes no fee", () => {
    expect(rows(buildSettlementPostings({ ...settled, fee: toMicro(0) }))).toEqual([
      ["held:t1", "allocation_release", -2.4],
      ["agent:ann", "allocation_release", 2.4],
      ["agent:ann", "settlement_debit", -2],
      ["agent:bob", "settlement_credit", 2],
    ]);
  });

  test("a refund is the release of the whole hold and nothing else", () => {
    const { payerId, taskId, locked } = settled;
    expect(buildSettlementPostings({ ...settled, charge: toMicro(0), fee: toMicro(0) })).toEqual(
      buildReleasePostings({ payerId, taskId, amount: locked }),
    );
  });

  test("nothing is written for nothing", () => {
    expect(buildDepositPostings({ agentId: "ann", amount: toMicro(0) })).toEqual([]);
    expect(buildHoldPostings({ payerId: "ann", taskId: "t1", amount: toMicro(0) })).toEqual([]);
  });

  test.each([
    ["a charge above the hold", { charge: toMicro("2.400001") }],
    ["a fee above the charge", { fee: toMicro("2.000001") }],
    ["a negative fee", { fee: toMicro("-0.1") }],
    ["a negative charge", { charge: toMicro(-1), fee: toMicro(0) }],
  ])("%s is a fault", (_fault, change) => {
    expect(() => buildSettlementPostings({ ...settled, ...change })).toThrow(RangeError);
  });

  test("a negative deposit, hold or release is a fault", () => {
    const amount = toMicro(-1);
    expect(() => buildDepositPostings({ agentId: "ann", amount })).toThrow(RangeError);
    expect(() => buildHoldPostings({ payerId: "ann", taskId: "t1", amount })).toThrow(RangeError);
    expect(() => buildReleasePostings({ payerId: "ann", taskId: "t1", amount })).toThrow(
      RangeError,
    );
  });
});

describe("Reconciliation", () => {
  const deposit = buildDepositPostings({ agentId: "ann", amount: toMicro(10) });

  test("sees a posting without its other side, and one micro-unit too much", () => {
    expect(isBalanced([])).toBe(true);
    expect(isBalanced(deposit)).toBe(true);
    expect(isBalanced(deposit.slice(1))).toBe(false);
    const extra: Posting = { account: FEE_ACCOUNT, type: "fee", amount: toMicro("0.000001") };
    expect(isBalanced([...deposit, extra])).toBe(false);
  });

  test("sums past the safe range of a double", () => {
    const amount = asMicro(Number.MAX_SAFE_INTEGER);
    const incoming: Posting[] = Array.from({ length: 3 }, () => ({
      account: EXTERNAL_ACCOUNT,
      type: "deposit",
      amount,
    }));
    const outgoing = incoming.map((posting) => ({ ...posting, amount: negate(amount) }));
    expect(isBalanced([...incoming, ...outgoing])).toBe(true);
    expect(isBalanced([...incoming, ...outgoing.slice(1)])).toBe(false);
  });

  test("adds postings to balances and leaves the given map as it was", () => {
    const before = applyPostings(new Map(), deposit);
    const after = applyPostings(before, buildSettlementPostings(settled));
    expect(before.get(accountOf.agent("ann"))).toBe(toMicro(10));
    expect(Object.fromEntries(after)).toEqual({
      world: toMicro(-10),
      "agent:ann": toMicro("10.4"),
      "held:t1": toMicro("-2.4"),
      "agent:bob": toMicro("1.9"),
      "relay:fees": toMicro("0.1"),
    });
  });
});
