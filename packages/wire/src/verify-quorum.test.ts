import { readFileSync } from "node:fs";
import {
  bytesToHex,
  canonicalize,
  generateKeyPair,
  hexToBytes,
  publicKeyToDidKey,
  signJson,
  verifyJson,
} from "@agent/crypto";
import { describe, expect, test } from "vitest";
import {
  type ApprovalBallot,
  type ApprovalSubject,
  buildApprovalVote,
  buildLegacyApprovalVote,
  verifyQuorum,
  verifyVote,
} from "./index.ts";

const keyOf = (seed: number) => {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  return { publicKey: bytesToHex(publicKey), secretKey, did: publicKeyToDidKey(publicKey) };
};
const id = (last: number) => `01890000-0000-7000-8000-${String(last).padStart(12, "0")}`;
const [ann, bob, cid] = [keyOf(1), keyOf(2), keyOf(3)];
const relay = keyOf(9).did;
const call = {
  approval_id: id(7),
  agent_id: id(8),
  tool_name: "pay",
  args_hash: "ab".repeat(32),
};
const quorum = {
  required: 2,
  approvers: [ann, bob, cid].map(({ publicKey }, index) => ({
    agent_id: id(index),
    public_key: publicKey,
  })),
};
const subject: ApprovalSubject = {
  ...call,
  quorum_required: 2,
  quorum_approvers: quorum.approvers.map(({ agent_id }) => agent_id),
};

type Change = Partial<ApprovalSubject> & Partial<ApprovalBallot>;

/** Signs a vote by the approver of this number, with changed members. */
function vote(number: number, change: Change = {}, secretKey = [ann, bob, cid][number]!.secretKey) {
  const ballot = { approver_id: id(number), decision: "approve", relay, ...change } as const;
  const { signature } = signJson(buildApprovalVote({ ...subject, ...change }, ballot), secretKey);
  return { approver_id: id(number), decision: "approve", signature };
}

const verify = (votes: Parameters<typeof verifyQuorum>[2]["votes"], of = quorum) =>
  verifyQuorum(call, of, { votes, relay });

describe("D3: verifyQuorum", () => {
  test("D3: a quorum of one is reached by one vote, and by none without it", () => {
    const single = { ...quorum, required: 1 };
    expect(verify([vote(0, { quorum_required: 1 })], single).ok).toBe(true);
    expect(verify([], single).ok).toBe(false);
  });

  test("D3: a quorum is reached by valid votes of distinct named approvers in any order", () => {
    expect(verify([vote(2), vote(0)])).toEqual({ ok: true });
    expect(verify([vote(1), vote(0), vote(2)])).toEqual({ ok: true });
  });

  const voteOfFirstVersion = () => {
    const { signature } = signJson(
      buildLegacyApprovalVote(subject, { approver_id: id(1), decision: "approve" }),
      bob.secretKey,
    );
    return { approver_id: id(1), decision: "approve", signature };
  };

  test.each<[string, ReturnType<typeof vote>[]]>([
    ["by one vote of two", [vote(0)]],
    ["by the same vote twice", [vote(0), vote(0)]],
    ["by the vote of one approver under the id of another", [vote(0), vote(1, {}, ann.secretKey)]],
    [
      "by a vote of an agent that is not an approver",
      [vote(0), { ...vote(1), approver_id: id(5) }],
    ],
    ["by a vote for another tool", [vote(0), vote(1, { tool_name: "read" })]],
    ["by a vote for other arguments", [vote(0), vote(1, { args_hash: "cd".repeat(32) })]],
    ["by a vote for another approval", [vote(0), vote(1, { approval_id: id(6) })]],
    ["by a vote for another agent", [vote(0), vote(1, { agent_id: id(6) })]],
    ["by a vote at another relay", [vote(0), vote(1, { relay: ann.did })]],
    ["by a vote for a smaller quorum", [vote(0), vote(1, { quorum_required: 1 })]],
    ["by a vote for other approvers", [vote(0), vote(1, { quorum_approvers: [id(0), id(1)] })]],
    ["by a signed denial", [vote(0), vote(1, { decision: "deny" })]],
    ["by an approval that is returned as a denial", [vote(0), { ...vote(1), decision: "deny" }]],
    ["by a vote of the first version", [vote(0), voteOfFirstVersion()]],
    ["by an invalid signature", [vote(0), { ...vote(1), signature: "A" }]],
    [
      "by a second vote of an approver whose first one is invalid",
      [vote(0), { ...vote(1), signature: "A" }, vote(1)],
    ],
    ["by no votes", []],
  ])("D3: a quorum is not reached %s", (_, votes) => {
    expect(verify(votes)).toEqual({ ok: false, code: "approval.votes_missing" });
  });

  test("D3: one key under two ids counts as one approver", () => {
    const [first] = quorum.approvers;
    const twice = [first!, { agent_id: id(1), public_key: ann.publicKey }];
    const change = { quorum_approvers: [id(0), id(1)] };
    const votes = [vote(0, change), vote(1, change, ann.secretKey)];
    expect(verify(votes, { required: 2, approvers: twice }).ok).toBe(false);
    expect(verifyQuorum(call, { required: 1, approvers: twice }, { votes, relay }).ok).toBe(false);
  });

  test("D3: a quorum of zero is never reached", () => {
    expect(verify([], { ...quorum, required: 0 }).ok).toBe(false);
  });
});

describe("D3: verifyVote", () => {
  const signed = (
    secretKey: Uint8Array,
    body: Parameters<typeof buildApprovalVote>[1] = ballot,
  ) => ({
    ...ballot,
    signature: signJson(buildApprovalVote(subject, body), secretKey).signature,
  });
  const ballot = { approver_id: id(0), decision: "approve", relay } as const;

  test("D3: a vote signed by the approver's own key is valid, also a denial", () => {
    expect(verifyVote(subject, signed(ann.secretKey), ann.publicKey)).toEqual({ ok: true });
    const denial = { ...ballot, decision: "deny" } as const;
    const { signature } = signed(ann.secretKey, denial);
    expect(verifyVote(subject, { ...denial, signature }, ann.publicKey)).toEqual({ ok: true });
  });

  test("D3: a vote under another key, for another decision or of the first version is refused", () => {
    const invalid = { ok: false, code: "approval.signature_invalid" };
    expect(verifyVote(subject, signed(bob.secretKey), ann.publicKey)).toEqual(invalid);
    const { signature } = signed(ann.secretKey, { ...ballot, decision: "deny" });
    expect(verifyVote(subject, { ...ballot, signature }, ann.publicKey)).toEqual(invalid);
    const first = signJson(buildLegacyApprovalVote(subject, ballot), ann.secretKey);
    const outdated = { ...ballot, signature: first.signature };
    expect(verifyVote(subject, outdated, ann.publicKey)).toEqual({
      ok: false,
      code: "approval.vote_outdated",
    });
    expect(verifyVote(subject, outdated, bob.publicKey)).toEqual(invalid);
  });
});

test("D3: the signed bytes of a vote are those of the vector", () => {
  const file = new URL("../../../vectors/own/approval-votes.jsonl", import.meta.url);
  const [line = ""] = readFileSync(file, "utf8").split("\n");
  const {
    seed,
    relay: at,
    call: about,
    vote: cast,
    signed_text,
    public_key,
    signature,
  } = JSON.parse(line) as Vector;
  const body = buildApprovalVote(about, { ...cast, relay: at });
  expect(canonicalize(body)).toBe(signed_text);
  expect(signJson(body, hexToBytes(seed)).signature).toBe(signature);
  expect(verifyJson({ ...body, signature }, hexToBytes(public_key))).toBe(true);
});

interface Vector {
  readonly seed: string;
  readonly relay: string;
  readonly call: ApprovalSubject;
  readonly vote: Omit<ApprovalBallot, "relay">;
  readonly signed_text: string;
  readonly public_key: string;
  readonly signature: string;
}
