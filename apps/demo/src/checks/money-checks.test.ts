import { expect, test } from "vitest";
import type { Balance } from "../figures/balances.ts";
import type { PaidTask } from "../participants/delegate-report.ts";
import { checkMoney, type MoneyEvidence } from "./money-checks.ts";
import { buildDelegation } from "../testing/paid-delegation.ts";

const { outer, inner } = buildDelegation();
const right: MoneyEvidence = {
  delegation: { outer, inner },
  before: balances(10, 1, 0, 0),
  after: balances(8, 2.5, 0.38, 0.12),
  reconciliation: { consistent: true },
  feeRate: 0.05,
};

function balances(...amounts: [number, number, number, number]): Balance[] {
  return ["editor", "research", "linguist", "relay fees"].map((name, index) => ({
    name,
    balance: amounts[index] ?? 0,
    held: 0,
  }));
}

function innerWith(part: {
  task?: Partial<PaidTask["task"]>;
  settlement?: Partial<PaidTask["settlement"]>;
}) {
  const changed = {
    ...inner,
    task: { ...inner.task, ...part.task },
    settlement: { ...inner.settlement, ...part.settlement },
  };
  return { delegation: { outer, inner: changed } };
}

const failed = (books: MoneyEvidence) =>
  checkMoney(books)
    .filter(({ passed: held }) => !held)
    .map(({ claim }) => claim);

test("all checks pass for correct payments", () => {
  expect(failed(right)).toEqual([]);
});

test.each<[string, Partial<MoneyEvidence>, RegExp]>([
  ["a task that was not scored", innerWith({ task: { routing_choice: null } }), /^Scored/],
  ["a hold of only the price", innerWith({ task: { amount_locked: 0.4 } }), /^Each hold/],
  ["another price", innerWith({ task: { estimated_cost: 0.41 } }), /^Each hold/],
  ["another payee", innerWith({ settlement: { payee_id: "x" } }), /^Each settlement/],
  ["a refund", innerWith({ settlement: { status: "refunded" } }), /^Each settlement/],
  ["another fee rate", { feeRate: 0.06 }, /^Each settlement/],
  ["a balance that is short", { after: balances(8, 2.49, 0.38, 0.12) }, /^The balances/],
  ["a missing account", { after: balances(8, 2.5, 0.38, 0.12).slice(1) }, /^The balances/],
  [
    "money that is still held",
    { after: balances(8, 2.5, 0.38, 0.12).map((account) => ({ ...account, held: 0.1 })) },
    /^The balances/,
  ],
  ["inconsistent books", { reconciliation: { consistent: false } }, /^The relay's books/],
])("%s fails its check", (_, wrong, claim) => {
  expect(failed({ ...right, ...wrong })).toEqual([expect.stringMatching(claim)]);
});
