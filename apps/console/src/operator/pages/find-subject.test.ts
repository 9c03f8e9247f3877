import { expect, test } from "vitest";
import { findSubject } from "./find-subject.ts";

const deposit = { reason: "paid", agentId: "a-1", amount: 10 };

test.each([
  ["an agent's own act", { agent_id: "a-2", detail: null }, "a-2"],
  ["an operator's act on an agent", { agent_id: null, detail: JSON.stringify(deposit) }, "a-1"],
  [
    "an act whose members are cut",
    { agent_id: null, detail: JSON.stringify(deposit).slice(0, 36) },
    "a-1",
  ],
  [
    "an act whose reason names a member",
    { agent_id: null, detail: JSON.stringify({ reason: `"agentId":"a-3"` }) },
    undefined,
  ],
  ["a freeze", { agent_id: null, detail: `{"reason":"a payment looks wrong"}` }, undefined],
  ["an act without members", { agent_id: null, detail: null }, undefined],
])("the audit shows which agent %s is about", (_, entry, expected) => {
  expect(findSubject(entry)).toBe(expected);
});
