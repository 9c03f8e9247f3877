import { canonicalize, sha256Hex } from "@agent/crypto";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capability,
  extensibleEnum,
  hash,
  id,
  looseObject,
  nextCursor,
  pageQuery,
  shortText,
  wholeNumber,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

export const ApprovalDecision = v.picklist(["approve", "deny"]);
export type ApprovalDecision = v.InferOutput<typeof ApprovalDecision>;

/** `used` means that the approved call has been made. */
const ApprovalStatus = v.picklist(["pending", "approved", "denied", "used"]);

const ApprovalVote = v.object({
  approver_id: v.string(),
  decision: describeAs(extensibleEnum(ApprovalDecision.options), "The vote."),
  signature: describeAs(v.string(), "The approver's Ed25519 signature in base64url."),
  voted_at: describeAs(wholeNumber, "The time of the vote, in ms since the Unix epoch."),
});

export const Approval = v.object({
  approval_id: v.string(),
  agent_id: describeAs(v.string(), "The id of the agent that makes the call."),
  tool_name: v.string(),
  args_hash: v.string(),
  arguments: describeAs(
    v.exactOptional(looseObject),
    "The arguments if the agent showed them; only while the approval is pending, and for a day at most.",
  ),
  quorum_required: wholeNumber,
  quorum_approvers: v.array(v.string()),
  quorum_hash: describeAs(
    v.string(),
    "The SHA-256 of the canonical JSON of `quorum_required` and the sorted distinct approvers, as 64 hex digits.",
  ),
  status: describeAs(
    extensibleEnum(ApprovalStatus.options),
    "The state; `used` means that the approved call has been made.",
  ),
  votes: describeAs(v.array(ApprovalVote), "The votes."),
  created_at: wholeNumber,
  resolved_at: v.nullable(wholeNumber),
});
export type Approval = v.InferInput<typeof Approval>;

const RequestApprovalBody = v.pipe(
  v.object({
    approval_id: describeAs(
      v.optional(id),
      "The id of the approval; the relay chooses one if absent.",
    ),
    tool_name: capability,
    args_hash: hash,
    arguments: describeAs(
      v.exactOptional(looseObject),
      "The arguments, shown to the approvers; the hash of their canonical JSON must be `args_hash`.",
    ),
    quorum_required: v.pipe(
      v.number(),
      v.safeInteger("must be a whole number"),
      v.minValue(1, "must be 1 or more"),
    ),
    quorum_approvers: v.pipe(
      v.array(agentId),
      v.maxLength(limits.approvers, `must contain at most ${limits.approvers} entries`),
    ),
  }),
  v.forward(
    v.check(
      ({ quorum_required, quorum_approvers }) => quorum_required <= new Set(quorum_approvers).size,
      "must be at most the number of distinct approvers",
    ),
    ["quorum_required"],
  ),
  v.forward(
    v.check(
      (body) => body.arguments === undefined || isHashed(body.arguments, body.args_hash),
      `must have the hash \`args_hash\` and at most ${limits.approvalArguments} characters of canonical JSON`,
    ),
    ["arguments"],
  ),
);

/** Returns whether arguments match a hash and are short enough to be kept. */
function isHashed(given: Record<string, unknown>, argsHash: string): boolean {
  try {
    const text = canonicalize(given);
    return text.length <= limits.approvalArguments && sha256Hex(text) === argsHash;
  } catch {
    // Ill-formed text has no canonical form.
    return false;
  }
}

/** Returns the SHA-256 (hex) of the JCS of the required number and the sorted distinct approvers. */
export function hashQuorum(quorum: Pick<Approval, "quorum_required" | "quorum_approvers">): string {
  const { quorum_required } = quorum;
  const quorum_approvers = [...new Set(quorum.quorum_approvers)].toSorted();
  return sha256Hex(canonicalize({ quorum_required, quorum_approvers }));
}

/** The call, the agent and the quorum that a vote refers to. */
export type ApprovalSubject = Pick<
  Approval,
  "approval_id" | "agent_id" | "tool_name" | "args_hash" | "quorum_required" | "quorum_approvers"
>;

/** The approver, its decision and the relay that counts it. */
export interface ApprovalBallot {
  readonly approver_id: string;
  readonly decision: ApprovalDecision;
  /** The did:key of the relay that counts the vote; the vote is invalid at any other relay. */
  readonly relay: string;
}

/** Builds the body whose JCS an approver signs. */
export function buildApprovalVote(subject: ApprovalSubject, ballot: ApprovalBallot) {
  const { approval_id, agent_id, tool_name, args_hash } = subject;
  const { relay, approver_id, decision } = ballot;
  const quorum_hash = hashQuorum(subject);
  const type = "approval_vote@2" as const;
  const call = { approval_id, agent_id, tool_name, args_hash, quorum_hash };
  return { type, ...call, relay, approver_id, decision };
}

/** Builds the body of the first version, without tool and relay, to recognise outdated votes. */
export function buildLegacyApprovalVote(
  subject: ApprovalSubject,
  { approver_id, decision }: Omit<ApprovalBallot, "relay">,
) {
  const { approval_id, agent_id, args_hash } = subject;
  const quorum_hash = hashQuorum(subject);
  const type = "approval_vote" as const;
  return { type, approval_id, agent_id, args_hash, quorum_hash, approver_id, decision };
}

export const approvals = {
  requestApproval: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/approvals",
    summary: "Request a quorum's approval of a tool call with given arguments.",
    section: "Approvals",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    body: RequestApprovalBody,
    ok: { 200: Approval, 201: Approval },
    refusals: ["agent.not_found", "approval.id_taken", "approval.too_many"],
  }),
  listApprovals: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/approvals",
    summary:
      "List the approvals that an agent requested or, with `as=approver`, those that it may vote on. Pending approvals of agents that it has blocked are left out.",
    section: "Approvals",
    auth: "bearer",
    ownerOnly: true,
    tier: "read",
    query: v.object({
      as: describeAs(
        v.optional(v.literal("approver")),
        "With `approver`, lists the approvals that the agent may vote on.",
      ),
      requester: describeAs(
        v.optional(v.picklist(["known", "unknown"])),
        "Only with `as=approver`; lists only calls that wait for its vote. `known` lists calls of the approver itself, of agents whose calls it has approved before, and of agents that it trusts at least as `first_contact`. `unknown` lists the newest call of each other agent, ordered by the fees that its tasks have paid to the relay, in powers of ten.",
      ),
      status: describeAs(v.optional(ApprovalStatus), "Only approvals in this state."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        approvals: describeAs(v.array(Approval), "The approvals."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  listAllApprovals: defineOperation({
    method: "GET",
    path: "/api/v1/admin/approvals",
    summary: "List the approvals of all agents, newest first. Only approvers can vote.",
    section: "Operator",
    auth: "master",
    tier: "read",
    query: v.object({
      status: describeAs(v.optional(ApprovalStatus), "Only approvals in this state."),
      ...pageQuery,
    }),
    ok: {
      200: v.object({
        approvals: describeAs(v.array(Approval), "The approvals, newest first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getApproval: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/approvals/:approvalId",
    summary: "Get an approval with its votes, as its agent or one of its approvers.",
    section: "Approvals",
    auth: "bearer",
    tier: "read",
    ok: { 200: Approval },
    refusals: ["approval.not_found", "approval.not_approver"],
  }),
  voteOnApproval: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/approvals/:approvalId/vote",
    summary: "Cast an approver's signed vote; a quorum approves, a single deny denies.",
    section: "Approvals",
    auth: "bearer",
    scope: "approvals:vote",
    singleUse: true,
    tier: "write",
    body: v.object({
      approver_id: agentId,
      decision: describeAs(ApprovalDecision, "The vote."),
      signature: describeAs(
        shortText,
        "The approver's Ed25519 signature in base64url over the canonical JSON of the vote.",
      ),
    }),
    ok: { 200: Approval },
    refusals: [
      "approval.not_found",
      "approval.not_approver",
      "approval.vote_outdated",
      "approval.signature_invalid",
      "approval.resolved",
      "approval.already_voted",
    ],
  }),
  useApproval: defineOperation({
    method: "POST",
    path: "/api/v1/agents/:agentId/approvals/:approvalId/use",
    summary: "Use an approval for the one call that it was given for.",
    section: "Approvals",
    auth: "bearer",
    ownerOnly: true,
    scope: "agent:write",
    tier: "write",
    body: v.object({ tool_name: capability, args_hash: hash }),
    ok: { 200: Approval },
    refusals: ["approval.not_found", "approval.other_call", "approval.not_approved"],
  }),
} as const;
