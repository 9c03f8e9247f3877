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

test("an agent, a hold and a peer with the same id have three different accounts, none of which is the relay's own", () => {
  const accounts = [accountOf.agent("fees"), accountOf.held("fees"), accountOf.peer("fees")];
  expect(new Set([...accounts, FEE_ACCOUNT, EXTERNAL_ACCOUNT]).size).toBe(5);
});

test.each(["__proto__", "constructor", "toString", ""])(
  "an agent named %j has an ordinary account",
  (agentId) => {
    const amount = toMicro(5);
    const balances = applyPostings(new Map(), buildDepositPostings({ agentId, amount }));
    expect(balances.get(accountOf.agent(agentId))).toBe(amount);
  },
);

describe("checkBalance", () => {
  test.each([0, 1, MAX_BALANCE])("checkBalance allows a balance of %i micro-units", (balance) => {
    expect(checkBalance(balance)).toEqual({ ok: true });
  });

  test.each([
    [-1, "budget.insufficient"],
    [MAX_BALANCE + 1, "money.balance_limit"],
  ])("checkBalance refuses a balance of %i micro-units with %s", (balance, code) => {
    expect(checkBalance(balance)).toEqual({ ok: false, code });
  });
});

describe("computeAvailableBalance", () => {
  test.each([
    ["the balance without a maximum", "10", undefined, "10"],
    ["the maximum of the caller if that is less", "10", "3", "3"],
    ["the balance if the maximum is more", "10", "30", "10"],
    ["0 if the maximum is 0", "10", "0", "0"],
    ["0 for an empty account", "0", "5", "0"],
    ["0 for a negative balance", "-1", undefined, "0"],
  ])("the available balance is %s", (_rule, balance, maxBudget, available) => {
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
])("A13: checkFunds answers a movement from balance %d to %d with %s", (before, after, answer) => {
  const expected = answer === "ok" ? { ok: true } : { ok: false, code: answer };
  expect(checkFunds({ before, after })).toEqual(expected);
});
