import { verifyVote } from "@agent/wire";
import { expect, test } from "vitest";
import { createBrowserKey } from "./browser-key.ts";
import { signVoteByKey } from "./sign-vote.ts";

const approval = {
  approval_id: "01890000-0000-7000-8000-000000000007",
  agent_id: "01890000-0000-7000-8000-000000000008",
  tool_name: "pay",
  args_hash: "ab".repeat(32),
  quorum_required: 1,
  quorum_approvers: ["01890000-0000-7000-8000-000000000000"],
};
const ballot = {
  approver_id: "01890000-0000-7000-8000-000000000000",
  decision: "approve" as const,
  relay: "did:key:z6MkwVDfCg9LbbY6xjH3EZk8YSFQZujV5Y4y1ZWeER9tDiN3",
};

test("a vote by the browser's key is verified by the rule of relays and agent servers", async () => {
  const key = await createBrowserKey();
  if (key === undefined) throw new Error("no Ed25519 here");
  const vote = await signVoteByKey(approval, ballot, key.privateKey);
  const signed = { ...ballot, ...vote };
  expect(verifyVote(approval, signed, key.publicKey)).toEqual({ ok: true });
  const denied = verifyVote(approval, { ...signed, decision: "deny" }, key.publicKey);
  expect(denied).toMatchObject({ ok: false });
  const elsewhere = verifyVote({ ...approval, tool_name: "read" }, signed, key.publicKey);
  expect(elsewhere).toMatchObject({ ok: false });
});
