import { expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import { checkSubmitter } from "./check-submitter.ts";

const relay: Caller = { kind: "relay", relayId: "r" };
const agent: Caller = { kind: "agent", agentId: "a", trust: "verified" };
const levels = new Map([
  ["blocked", "blocked"],
  ["unknown", "unknown"],
  ["verified", "verified"],
] as const);
const findKnownLevel = (agentId: string) => levels.get(agentId as "blocked");

test.each([
  ["refused", "by the relay, from a blocked submitter", relay, "blocked"],
  ["accepted", "by the relay, from a verified one", relay, "verified"],
  ["accepted", "by the relay, from one that the owner knows as unknown", relay, "unknown"],
  ["accepted", "by the relay, from a stranger", relay, "stranger"],
  ["accepted", "by the relay, without a submitter", relay, undefined],
  ["accepted", "by the owner, whatever it says of a submitter", owner, "blocked"],
  ["accepted", "by another agent, whatever it says of a submitter", agent, "blocked"],
])("E29: a task is %s if it is given %s", (expected, _, caller, submittedBy) => {
  const refusal = checkSubmitter(
    caller,
    submittedBy === undefined ? {} : { submittedBy },
    findKnownLevel,
  );
  expect(refusal === undefined ? "accepted" : "refused").toBe(expected);
});

test("no task is refused for its submitter where the owner knows no agents", () => {
  expect(checkSubmitter(relay, { submittedBy: "blocked" })).toBeUndefined();
});
