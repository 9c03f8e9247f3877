import { expect, test } from "vitest";
import { describeVote } from "./describe-vote.ts";

const approval = {
  quorum_approvers: ["ann", "bob", "cid"],
  status: "pending" as const,
  votes: [{ approver_id: "bob", decision: "approve" }],
};

test.each([
  ["an approver who has not voted", approval, "ann", { mayVote: true }],
  ["one who has", approval, "bob", { approving: 1, mayVote: false, ownDecision: "approve" }],
  [
    "one who refused, which approves nothing",
    { ...approval, votes: [...approval.votes, { approver_id: "cid", decision: "deny" }] },
    "cid",
    { approving: 1, mayVote: false, ownDecision: "deny" },
  ],
  ["a stranger", approval, "eve", { mayVote: false }],
  [
    "an approver of one that is decided",
    { ...approval, status: "denied" as const },
    "ann",
    { mayVote: false },
  ],
])("the vote of %s on an approval is described", (_, given, approver, state) => {
  expect(describeVote(given, approver)).toMatchObject(state);
});
