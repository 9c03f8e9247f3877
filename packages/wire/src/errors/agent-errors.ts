import type { ErrorText } from "./error-text.ts";

/** Refusals about agents: keys, devices, trust, pairing, approvals and listings. */
export const agentErrors = {
  "agent.not_found": { status: 404, text: "Agent not found" },
  "agent.revoked": { status: 403, text: "Agent is revoked" },
  "agent.id_reserved": { status: 400, text: "agent_id must not be the relay's own id" },
  "agent.key_unacceptable": {
    status: 400,
    text: "public_key must be 64 lower-case hex digits and must not be a small-order point",
  },
  "agent.key_changed": { status: 409, text: "Public key changed - succession record required" },
  "agent.id_not_of_key": {
    status: 403,
    text: "agent_id is a version 8 id of another key: a succession record from that key is required",
  },
  "agent.key_in_use": { status: 409, text: "Public key is in use under another agent id" },
  "agent.key_displaced": {
    status: 403,
    text: "Another agent proved possession of this agent's unproven key: a succession record is required",
  },
  "agent.succession_invalid": { status: 400, text: "Invalid key succession" },
  "agent.proof_required": { status: 400, text: "proof of possession of the key is required" },
  "agent.proof_invalid": { status: 400, text: "proof does not show possession of the key" },
  "trust.not_found": { status: 404, text: "No trust record of this agent" },
  "trust.blocked": { status: 409, text: "A blocked agent cannot be unblocked" },
  "trust.level_earned": {
    status: 400,
    text: "trust_level can only be set to blocked, the other levels are earned",
  },
  "trust.no_path": { status: 404, text: "No trusted path found" },
  "device.not_found": { status: 404, text: "Device not found" },
  "device.carries_agent_key": {
    status: 409,
    text: "Device uses the agent's own key: rotate that key or revoke the agent",
  },
  "device.too_many": { status: 409, text: "Agent has reached its maximum of devices" },
  "pairing.not_found": { status: 404, text: "Pairing code or session not found" },
  "pairing.not_owner": { status: 403, text: "Pairing session belongs to another agent" },
  "pairing.code_used": { status: 409, text: "Pairing code was already used" },
  "pairing.not_claimed": { status: 409, text: "Pairing code has not been claimed yet" },
  "pairing.resolved": { status: 409, text: "Pairing was already approved or denied" },
  "pairing.expired": { status: 410, text: "Pairing code expired" },
  "pairing.scope_not_held": {
    status: 403,
    text: "A device can grant only scopes that it has itself",
  },
  "pairing.too_many_tries": { status: 429, text: "Too many wrong pairing codes" },
  "approval.not_found": { status: 404, text: "Approval not found" },
  "approval.not_approver": { status: 403, text: "Quorum approver is not authorized" },
  "approval.signature_invalid": { status: 403, text: "Vote signature verification failed" },
  "approval.vote_outdated": {
    status: 403,
    text: "Vote must sign the tool and the relay, as approval_vote@2",
  },
  "approval.resolved": { status: 409, text: "Approval is already resolved" },
  "approval.already_voted": { status: 409, text: "Approver has already voted" },
  "approval.too_many": {
    status: 429,
    text: "Requester has reached its maximum of pending approvals of an approver",
  },
  "approval.id_taken": { status: 409, text: "Another approval has this id" },
  "approval.other_call": { status: 409, text: "Approval was given for another call" },
  "approval.not_approved": { status: 409, text: "Approval is pending, denied or already used" },
  "listing.not_found": { status: 404, text: "Listing not found" },
} as const satisfies Record<string, ErrorText>;
