import { expect, test } from "vitest";
import { keepWithdrawal } from "./keep-withdrawal.ts";

const before = { amount: 5, destination: "DE00 1", idempotencyKey: "a" };

test("D32: a withdrawal whose answer was lost has the same idempotency key when it is requested again", () => {
  expect(keepWithdrawal(before, { ...before, idempotencyKey: "b" })).toBe(before);
});

test.each([
  ["the first withdrawal", undefined, before],
  ["one of another amount", before, { ...before, amount: 6, idempotencyKey: "b" }],
  ["one to another destination", before, { ...before, destination: "DE00 2", idempotencyKey: "b" }],
])("%s has an idempotency key of its own", (_, unanswered, wanted) => {
  expect(keepWithdrawal(unanswered, wanted)).toBe(wanted);
});
