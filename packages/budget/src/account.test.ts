import { describe, expect, test } from "vitest";
import {
  accountOf,
  computeAvailableBalance,
  checkBalance,
  checkFunds,
  FEE_ACCOUNT,
  MAX_BALANCE,
  EXTERNAL_ACCOUNT,
} from "./account.ts";
import { toMicro } from "./amount.ts";
import { applyPostings, buildDepositPostings } from "./posting.ts";

test("An agent, a hold and a peer of one id are three accounts, none of them the relay's own", () => {
  const accounts = [accountOf.agent("fees"), accountOf.held("fees"), accountOf.peer("fees")];
  expect(new Set([...accounts, FEE_ACCOUNT, EXTERNAL_ACCOUNT]).size).toBe(5);
});

test.each(["__proto__", "constructor", "toString", ""])(
  "An agent called %j has an ordinary account",
  (agentId) => {
    const amount = toMicro(5);
    const balances = applyPostings(new Map(), buildDepositPostings({ agentId, amount }));
    expect(balances.get(accountOf.agent(agentId))).toBe(amount);
  },
);

describe("A balance", () => {
  test.each([0, 1, MAX_BALANCE])("of %i micro-units is allowed", (balance) => {
    expect(checkBalance(balance)).toEqual({ ok: true });
  });

  test.each([
    [-1, "budget.insufficient"],
    [MAX_BALANCE + 1, "money.balance_limit"],
  ])("of %i micro-units is refused with %s", (balance, code) => {
    expect(checkBalance(balance)).toEqual({ ok: false, code });
  });
});

describe("The available balance", () => {
  test.each([
    ["the balance without a cap", "10", undefined, "10"],
    ["the cap of the caller when that is less", "10", "3", "3"],
    ["the balance when the cap is more", "10", "30", "10"],
    ["nothing when the cap is 0", "10", "0", "0"],
    ["nothing in an empty account", "0", "5", "0"],
    ["never below nothing", "-1", undefined, "0"],
  ])("is %s", (_rule, balance, maxBudget, available) => {
    expect(
      computeAvailableBalance({
        balance: toMicro(balance),
        maxBudget: maxBudget === undefined ? undefined : toMicro(maxBudget),
      }),
    ).toBe(toMicro(available));
  });
});

test.each([
  [10, 0, "ok"],
  [0, 10, "ok"],
  [10, -1, "budget.insufficient"],
  [0, -1, "budget.insufficient"],
  [-5, -5, "ok"],
  [-5, -1, "ok"],
  [-5, 3, "ok"],
  [-5, -6, "account.overdrawn"],
])("A13: a movement that leads a balance from %d to %d is answered %s", (before, after, answer) => {
  const expected = answer === "ok" ? { ok: true } : { ok: false, code: answer };
  expect(checkFunds({ before, after })).toEqual(expected);
});
