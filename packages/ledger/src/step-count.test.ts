import { describe, expect, test } from "vitest";
import { signed, step, steps } from "../test/fixtures.ts";
import { stepCount } from "./index.ts";

describe("the count of steps for a partial settlement", () => {
  test("is of completed ones among all, those that never began included", () => {
    expect(stepCount(signed())).toEqual({ completed: 1, total: 3 });
    expect(stepCount({ steps: [...steps(), step("x", 3, { status: "skipped" })] })).toEqual({
      completed: 1,
      total: 4,
    });
    expect(stepCount({ steps: [] })).toEqual({ completed: 0, total: 0 });
  });
});
