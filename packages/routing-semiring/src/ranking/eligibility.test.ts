import { expect, test } from "vitest";
import { checkTargetEligibility } from "./eligibility.ts";

const target = { isBlocked: false, isExcluded: false, price: 2 };

test.each<
  [change: Partial<Parameters<typeof checkTargetEligibility>[0]>, refused: string | undefined]
>([
  [{}, undefined],
  [{ price: 0 }, undefined],
  [{ price: null }, "task.no_candidate"],
  [{ isExcluded: true }, "task.no_candidate"],
  [{ isBlocked: true }, "task.target_blocked"],
  [{ isExcluded: true, price: null }, "task.no_candidate"],
  [{ isBlocked: true, price: null }, "task.target_blocked"],
  [{ isBlocked: true, isExcluded: true }, "task.target_blocked"],
])("B1, B5, B6: a target with %o is refused as %s", (change, code) => {
  const known = { ...target, ...change };
  expect(checkTargetEligibility(known)).toEqual(
    code === undefined ? { ok: true, price: known.price } : { ok: false, code },
  );
});
