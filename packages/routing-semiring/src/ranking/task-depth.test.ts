import { expect, test } from "vitest";
import { checkTaskDepth, MAX_TASK_DEPTH } from "./task-depth.ts";

test.each([0, 1, MAX_TASK_DEPTH])("H8: a task of depth %i is accepted", (depth) => {
  expect(checkTaskDepth(depth)).toEqual({ ok: true });
});

test.each([MAX_TASK_DEPTH + 1, 60, Number.MAX_SAFE_INTEGER])(
  "H8: a task of depth %i is refused",
  (depth) => {
    expect(checkTaskDepth(depth)).toEqual({ ok: false, code: "task.too_deep" });
  },
);
