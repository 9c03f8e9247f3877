import { hexToDidKey } from "@agent/crypto";
import { refuse, verifyVote, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { findDevice } from "../agents/devices/device-store.ts";
import { findAgent } from "../agents/store.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import {
  closeVotes,
  countVotesInFavour,
  findApproval,
  recordVote,
  updateApprovalStatus,
} from "./store.ts";
import { loadApproval } from "./load-approval.ts";

type VoteOn = Operations["voteOnApproval"];

interface SubmittedVote {
  readonly agentId: string;
  readonly approvalId: string;
  readonly body: BodyOf<VoteOn>;
  readonly caller: Caller;
}

/**
 * Records an approver's only vote: reaching the quorum approves, and one denial denies. A vote whose key has
 * ended since does not count, and its approver may vote again.
 */
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
  const relay = hexToDidKey(identity.publicKey);
  const signed = { approver_id, decision, relay, signature };
  const keys = await listVotingKeys(storage.read, approver_id, caller);
  const verdicts = keys.map((key) => ({ key, ...verifyVote(approval, signed, key) }));
  const verified = verdicts.find(({ ok }) => ok);
  if (verified === undefined) {
    const isOutdated = verdicts.some((each) => !each.ok && each.code === "approval.vote_outdated");
    return refuse(isOutdated ? "approval.vote_outdated" : "approval.signature_invalid");
  }

  const now = runtime.now();
  return storage.transaction(async (tx) => {
    const row = await findApproval(tx, key);
    if (row?.status !== "pending") return refuse("approval.resolved");
    // The key may have been rotated or revoked while the signature was verified.
    const keysNow = await listVotingKeys(tx, approver_id, caller);
    if (!keysNow.includes(verified.key)) return refuse("approval.signature_invalid");
    const vote = { ...key, approver_id, decision, signature, public_key: verified.key, now };
    if (!(await recordVote(tx, vote))) return refuse("approval.already_voted");
    const counted = await loadApproval(tx, row);
    if (decision === "approve" && (await countVotesInFavour(tx, key)) < row.quorum_required) {
      return { status: 200 as const, body: counted };
    }
    const status = decision === "deny" ? ("denied" as const) : ("approved" as const);
    await updateApprovalStatus(tx, { ...key, status, resolved_at: now, from: "pending" });
    await closeVotes(tx, key);
    const detail = `${approvalId} ${status}`;
    await recordAudit(tx, now, caller, { agentId, action: "approval.resolved", detail });
    const { arguments: _, ...decided } = counted;
    return { status: 200 as const, body: { ...decided, status, resolved_at: now } };
  });
}

/**
 * Lists the keys with which a caller's vote for an approver counts: the approver's own key, and that of the
 * calling device if its owner granted it `approvals:vote` explicitly. Verifiers of the quorum itself count
 * a device's vote only if they name its key.
 */
async function listVotingKeys(read: Reader, approverId: string, caller: Caller): Promise<string[]> {
  const approver = await findAgent(read, approverId);
  if (approver === undefined || approver.public_key === null || approver.revoked_at !== null) {
    return [];
  }
  if (caller.kind !== "agent" || !caller.scopes.has("approvals:vote")) return [approver.public_key];
  const device = await findDevice(read, caller.deviceId);
  const isInForce = device?.agent_id === approverId && device.revoked_at === null;
  return isInForce ? [approver.public_key, device.public_key] : [approver.public_key];
}
