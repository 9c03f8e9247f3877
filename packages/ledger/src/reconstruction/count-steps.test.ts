import { describe, expect, test } from "vitest";
import { buildSignedLedger, buildStep, buildSteps } from "../../test/fixtures.ts";
import { countSteps } from "../index.ts";

describe("the count of steps", () => {
  test("a partial settlement counts the completed steps among all, even those that never began", () => {
    expect(countSteps(buildSignedLedger())).toEqual({ completed: 1, total: 3 });
    expect(
      countSteps({ steps: [...buildSteps(), buildStep("x", 3, { status: "skipped" })] }),
    ).toEqual({
      completed: 1,
      total: 4,
    });
    expect(countSteps({ steps: [] })).toEqual({ completed: 0, total: 0 });
  });
});
