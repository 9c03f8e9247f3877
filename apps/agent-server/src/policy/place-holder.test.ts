import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import { getPlaceHolder } from "./place-holder.ts";

const relay: Caller = { kind: "relay", relayId: "r" };
const agent: Caller = { kind: "agent", agentId: "a", trust: "verified" };

describe("the holder of a place", () => {
  test.each([
    ["owner", "owner", owner, undefined],
    ["owner", "owner", owner, { submittedBy: "s", estimatedCost: 1 }],
    ["agent:a", "verified", agent, undefined],
    ["agent:a", "verified", agent, { submittedBy: "s", estimatedCost: 1 }],
    ["relay:r", "relay", relay, undefined],
    ["relay:r", "relay", relay, { estimatedCost: 1 }],
    ["relay:r s", "relay_free", relay, { submittedBy: "s" }],
    ["relay:r s", "relay_free", relay, { submittedBy: "s", estimatedCost: 0 }],
    ["relay:r s", "relay_free", relay, { submittedBy: "s", estimatedCost: 0.000_999 }],
    ["relay:r s", "relay_paid", relay, { submittedBy: "s", estimatedCost: 0.001 }],
  ])(
    "E12: the holder of a place is %s of the group %s for %o and the task %o",
    (caller, group, by, task) => {
      expect(getPlaceHolder(by, task)).toEqual({ caller, group });
    },
  );

  test.each([
    ["verified", "verified", relay, { submittedBy: "s" }],
    ["verified", "verified", relay, { submittedBy: "s", estimatedCost: 1 }],
    ["first_contact", "first_contact", relay, { submittedBy: "s" }],
    ["unknown", "relay_free", relay, { submittedBy: "s" }],
    ["unknown", "relay_paid", relay, { submittedBy: "s", estimatedCost: 1 }],
    ["trusted", "relay_free", relay, { submittedBy: "other" }],
    ["trusted", "relay", relay, {}],
    ["trusted", "verified", agent, { submittedBy: "s" }],
    ["trusted", "owner", owner, { submittedBy: "s" }],
  ] as const)(
    "E28: where the owner knows the submitter s as %s, the group of a place is %s for %o and the task %o",
    (level, group, by, task) => {
      const findKnownLevel = (agentId: string) => (agentId === "s" ? level : undefined);
      expect(getPlaceHolder(by, task, findKnownLevel).group).toBe(group);
      expect(getPlaceHolder(by, task, findKnownLevel).caller).toBe(getPlaceHolder(by, task).caller);
    },
  );
});
