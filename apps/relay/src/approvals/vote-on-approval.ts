import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { refuse, verifyVote, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { updateApprovalStatus, findApproval, recordVote } from "./store.ts";
import { loadApproval } from "./load-approval.ts";

type VoteOn = Operations["voteOnApproval"];

interface SubmittedVote {
  readonly agentId: string;
  readonly approvalId: string;
  readonly body: BodyOf<VoteOn>;
  readonly caller: Caller;
}

/** Records an approver's only vote: reaching the quorum approves, and one denial denies. */
export async function voteOnApproval(
  { storage, runtime, identity }: Pick<Services, "storage" | "runtime" | "identity">,
  { agentId, approvalId, body, caller }: SubmittedVote,
): Promise<Answer<VoteOn>> {
  const { approver_id, decision, signature } = body;
  const key = { agent_id: agentId, approval_id: approvalId };
  const approvalRow = await findApproval(storage.read, key);
  if (approvalRow === undefined) return refuse("approval.not_found");
  const approval = await loadApproval(storage.read, approvalRow);
  if (!approval.quorum_approvers.includes(approver_id) || !mayActFor(caller, [approver_id])) {
    return refuse("approval.not_approver");
  }
  const relay = publicKeyToDidKey(hexToBytes(identity.publicKey));
  const approver = await findAgent(storage.read, approver_id);
  if (approver === undefined || approver.public_key === null || approver.revoked_at !== null) {
    return refuse("approval.signature_invalid");
  }
  const signed = { approver_id, decision, relay, signature };
  const verified = verifyVote(approval, signed, approver.public_key);
  if (!verified.ok) return refuse(verified.code);

  const now = runtime.now();
  return storage.transaction(async (tx) => {
    const row = await findApproval(tx, key);
    if (row?.status !== "pending") return refuse("approval.resolved");
    const voter = await findAgent(tx, approver_id);
    // The key may have been rotated or revoked while the signature was verified.
    if (voter?.public_key !== approver.public_key || voter.revoked_at !== null) {
      return refuse("approval.signature_invalid");
    }
    if (!(await recordVote(tx, { ...key, approver_id, decision, signature, now }))) {
      return refuse("approval.already_voted");
    }
    const counted = await loadApproval(tx, row);
    const inFavour = counted.votes.filter((cast) => cast.decision === "approve").length;
    if (decision === "approve" && inFavour < row.quorum_required) {
      return { status: 200 as const, body: counted };
    }
    const status = decision === "deny" ? ("denied" as const) : ("approved" as const);
    await updateApprovalStatus(tx, { ...key, status, resolved_at: now, from: "pending" });
    const detail = `${approvalId} ${status}`;
    await recordAudit(tx, now, caller, { agentId, action: "approval.resolved", detail });
    return { status: 200 as const, body: { ...counted, status, resolved_at: now } };
  });
}
