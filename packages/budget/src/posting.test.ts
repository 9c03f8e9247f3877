import { describe, expect, test } from "vitest";
import { accountOf, FEE_ACCOUNT, EXTERNAL_ACCOUNT } from "./account.ts";
import { toMicro } from "./amount.ts";
import { asMicro, negate } from "./money.ts";
import {
  applyPostings,
  buildDepositPostings,
  buildHoldPostings,
  isBalanced,
  isReversal,
  buildPayoutPostings,
  buildReleasePostings,
  buildReturnPostings,
  buildReversalPostings,
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

describe("the postings of a movement", () => {
  test("a deposit moves money from the external account", () => {
    expect(rows(buildDepositPostings({ agentId: "ann", amount: toMicro(10) }))).toEqual([
      ["world", "deposit", -10],
      ["agent:ann", "deposit", 10],
    ]);
  });

  test("only the debit of a reversed deposit may overdraw an agent's account", () => {
    const reversed = { agentId: "ann", amount: asMicro(1) };
    expect(buildReversalPostings(reversed).map(isReversal)).toEqual([true, false]);
    expect(buildDepositPostings(reversed).map(isReversal)).toEqual([false, false]);
    const withdrawn = buildWithdrawalPostings({ ...reversed, withdrawalId: "w1" });
    expect(withdrawn.map(isReversal)).toEqual([false, false]);
  });

  test("a hold moves money from the payer to the task, and a release reverses it", () => {
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

  test("a withdrawal is held first, then paid to the external account or returned", () => {
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

  test("a settlement without a fee has no fee posting", () => {
    expect(rows(buildSettlementPostings({ ...settled, fee: toMicro(0) }))).toEqual([
      ["held:t1", "allocation_release", -2.4],
      ["agent:ann", "allocation_release", 2.4],
      ["agent:ann", "settlement_debit", -2],
      ["agent:bob", "settlement_credit", 2],
    ]);
  });

  test("a refund only releases the whole hold", () => {
    const { payerId, taskId, locked } = settled;
    expect(buildSettlementPostings({ ...settled, charge: toMicro(0), fee: toMicro(0) })).toEqual(
      buildReleasePostings({ payerId, taskId, amount: locked }),
    );
  });

  test("an amount of 0 has no postings", () => {
    expect(buildDepositPostings({ agentId: "ann", amount: toMicro(0) })).toEqual([]);
    expect(buildHoldPostings({ payerId: "ann", taskId: "t1", amount: toMicro(0) })).toEqual([]);
  });

  test.each([
    ["a charge above the hold", { charge: toMicro("2.400001") }],
    ["a fee above the charge", { fee: toMicro("2.000001") }],
    ["a negative fee", { fee: toMicro("-0.1") }],
    ["a negative charge", { charge: toMicro(-1), fee: toMicro(0) }],
  ])("a settlement with %s throws", (_fault, change) => {
    expect(() => buildSettlementPostings({ ...settled, ...change })).toThrow(RangeError);
  });

  test("a negative deposit, hold or release throws", () => {
    const amount = toMicro(-1);
    expect(() => buildDepositPostings({ agentId: "ann", amount })).toThrow(RangeError);
    expect(() => buildHoldPostings({ payerId: "ann", taskId: "t1", amount })).toThrow(RangeError);
    expect(() => buildReleasePostings({ payerId: "ann", taskId: "t1", amount })).toThrow(
      RangeError,
    );
  });
});

describe("isBalanced and applyPostings", () => {
  const deposit = buildDepositPostings({ agentId: "ann", amount: toMicro(10) });

  test("isBalanced detects a missing posting and a single micro-unit", () => {
    expect(isBalanced([])).toBe(true);
    expect(isBalanced(deposit)).toBe(true);
    expect(isBalanced(deposit.slice(1))).toBe(false);
    const extra: Posting = { account: FEE_ACCOUNT, type: "fee", amount: toMicro("0.000001") };
    expect(isBalanced([...deposit, extra])).toBe(false);
  });

  test("isBalanced sums beyond the safe range of a double", () => {
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

  test("applyPostings adds postings to balances and leaves the given map unchanged", () => {
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
