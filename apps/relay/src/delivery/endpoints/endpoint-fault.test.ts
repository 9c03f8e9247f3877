import { expect, test } from "vitest";
import { backoffEffect } from "./endpoint-fault.ts";

test.each([
  [
    "an answer of an MCP server that did not do the task ends the pause",
    { kind: "answered" },
    "succeeded",
  ],
  [
    "an endpoint without a connection or without MCP starts a pause",
    { kind: "unreachable" },
    "failed",
  ],
  ["a timeout of 10 s starts a pause", { kind: "timeout", waitedMs: 10_000 }, "failed"],
  ["a shorter timeout changes nothing", { kind: "timeout", waitedMs: 9_999 }, "unchanged"],
] as const)("H16: %s", (_, fault, after) => {
  expect(backoffEffect(fault)).toBe(after);
});
