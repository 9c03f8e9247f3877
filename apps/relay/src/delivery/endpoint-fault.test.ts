import { expect, test } from "vitest";
import { backoffEffect } from "./endpoint-fault.ts";

test.each([
  ["an MCP server that did not do the task ends the pause", { kind: "answered" }, "succeeded"],
  ["no connection, or no MCP, begins one", { kind: "unreachable" }, "failed"],
  ["silence for 10 s begins one", { kind: "timeout", waitedMs: 10_000 }, "failed"],
  ["silence for less changes nothing", { kind: "timeout", waitedMs: 9_999 }, "unchanged"],
] as const)("H16: %s", (_, fault, after) => {
  expect(backoffEffect(fault)).toBe(after);
});
