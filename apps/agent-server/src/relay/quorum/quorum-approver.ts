import type { CallRefusal, RelayClient } from "@agent/client";
import { canonicalize, hexToDidKey } from "@agent/crypto";
import { limits, verifyQuorum, type Operations } from "@agent/wire";
import type { ApprovalRequest, Approver, ApprovalAnswer } from "../../policy/approvals.ts";
import { isInForce } from "../../policy/is-in-force.ts";
import type { Runtime } from "../../runtime.ts";
import type { JsonObject } from "../../tools/definition.ts";
import { isFinalRefusal } from "../is-final-refusal.ts";
import type { QuorumRequest, QuorumRequests } from "./quorum-requests.ts";
import type { ConfiguredQuorum } from "./configured-quorum.ts";
import { createPendingCalls, type DeletedCall, type PendingCalls } from "./pending-calls.ts";
import { NOT_JOINED_REFUSAL } from "../membership/maintain-membership.ts";

/** The longest time that a call waits for an unresponsive relay. */
const TIMEOUT_MS = 10_000;

type ApprovalClient = Pick<RelayClient, "requestApproval" | "listApprovals" | "useApproval">;

/**
 * Creates an approver by the votes of other agents, which the agent's relay collects. The relay
 * learns the tool and the hash of the arguments, with `showsArguments` the arguments too, but not
 * the caller. Its count is not trusted: the votes are verified here with the keys that the owner
 * configured.
 */
export function createQuorumApprover(parts: {
  agentId: string;
  quorum: ConfiguredQuorum;
  requests: QuorumRequests;
  /** Absent while the relay is not joined. */
  client: () => ApprovalClient | undefined;
  /** The relay's key as 64 hex digits, pinned when it was joined; absent until then. */
  relayKey: () => string | undefined;
  runtime: Pick<Runtime, "now" | "randomBytes">;
}): Approver {
  const { agentId, runtime } = parts;
  const { required: quorum_required, approvers } = parts.quorum;
  const pending = createPendingCalls(parts.requests, runtime);
  const quorum_approvers = approvers.map(({ agent_id }) => agent_id);

  return {
    async requestApproval(call, signal): Promise<ApprovalAnswer> {
      const client = parts.client();
      const relayKey = parts.relayKey();
      if (client === undefined || relayKey === undefined) return answerRefusal(NOT_JOINED_REFUSAL);
      const perCall = { timeoutMs: TIMEOUT_MS, ...(signal !== undefined && { signal }) };
      const entry = await findEntry(pending, call, () => listDeniedIds(client, agentId, perCall));
      if (entry === undefined) return { status: "full" };
      const { approvalId, expiresAt } = entry;
      if (!isInForce(expiresAt, runtime.now())) {
        await pending.delete(call, entry);
        return buildRefusal(EXPIRED, "approval.expired", approvalId);
      }

      const { tool: tool_name, argsHash: args_hash } = call;
      const callFields = { tool_name, args_hash };
      // The relay records a request once per id and returns its state for each repetition.
      const body = {
        ...callFields,
        ...(parts.quorum.showsArguments && showArguments(call)),
        approval_id: approvalId,
        quorum_required,
        quorum_approvers,
      };
      const answer = await client.requestApproval({ params: { agentId }, body }, perCall);
      if (!answer.ok) {
        if (!NO_REQUEST_CODES.has(answer.code)) return answerRefusal(answer, approvalId);
        await pending.delete(call, entry);
        return answerRefusal(answer);
      }
      const { status } = answer.body;
      if (status === "pending") return { status: "pending", approvalId };
      if (status === "denied") {
        await pending.markDenied(new Set([approvalId]));
        return buildRefusal("an approver refused this call", "approval.denied", approvalId);
      }

      // An unknown status of a later version neither approves the call nor ends the request.
      if (status !== "approved" && status !== "used") {
        return buildRefusal(NO_APPROVAL, "approval.status_unknown", approvalId, "unavailable");
      }

      if (status === "approved") {
        const signedFields = { approval_id: approvalId, agent_id: agentId, ...callFields };
        const relay = hexToDidKey(relayKey);
        const { votes } = answer.body;
        const verified = verifyQuorum(signedFields, parts.quorum, { votes, relay });
        if (!verified.ok) {
          return buildRefusal("the votes for this call are invalid", verified.code, approvalId);
        }
        const params = { agentId, approvalId };
        const used = await client.useApproval({ params, body: callFields }, perCall);
        if (used.ok) return answerUse(await pending.delete(call, entry), approvalId);
        if (used.code !== "approval.not_approved") return answerRefusal(used, approvalId);
      }
      // A concurrent identical call used the approval, or one whose answer was lost.
      await pending.delete(call, entry);
      return answerUse("gone", approvalId);
    },
  };
}

/**
 * Finds or adds the entry of a call. A caller that does not repeat its denied call does not learn of the
 * denial, so the relay is asked about those before a call gets no place.
 */
async function findEntry(
  pending: PendingCalls,
  call: ApprovalRequest,
  listDenied: () => Promise<ReadonlySet<string>>,
): Promise<QuorumRequest | undefined> {
  const entry = await pending.getOrAdd(call);
  if (entry !== undefined) return entry;
  await pending.markDenied(await listDenied());
  return pending.getOrAdd(call);
}

/** Lists the newest denied approvals of the agent; none if the relay does not answer. */
async function listDeniedIds(
  client: ApprovalClient,
  agentId: string,
  perCall: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ReadonlySet<string>> {
  const query = { status: "denied", limit: limits.maxPageSize } as const;
  const listed = await client.listApprovals({ params: { agentId }, query }, perCall);
  return new Set(listed.ok ? listed.body.approvals.map(({ approval_id }) => approval_id) : []);
}

/**
 * The relay may claim for several uses that they are the first, so the agent itself lets only one call
 * through.
 */
function answerUse(deleted: DeletedCall, approvalId: string): ApprovalAnswer {
  switch (deleted) {
    case "deleted":
      return { status: "approved", approvalId };
    case "gone":
      return buildRefusal("the approval of this call is used up", "approval.used", approvalId);
    case "not_kept": {
      const reason = "the use of its approval cannot be stored";
      return buildRefusal(reason, "approval.not_kept", approvalId);
    }
  }
}

/** Returns the arguments for the approvers; those that no relay keeps are voted on by their hash. */
function showArguments({ args }: ApprovalRequest): { arguments?: JsonObject } {
  return canonicalize(args).length <= limits.approvalArguments ? { arguments: args } : {};
}

/**
 * The refusals that prove that the relay does not have such a request. After any other refusal it may have
 * one from an earlier attempt whose answer was lost.
 */
const NO_REQUEST_CODES: ReadonlySet<string> = new Set([
  "agent.not_found",
  "approval.id_taken",
  "approval.too_many",
] satisfies Operations["requestApproval"]["refusals"][number][]);

const EXPIRED = "the approval of this call has expired";
const NO_APPROVAL = "the relay gave no approval";

function answerRefusal(refusal: CallRefusal, approvalId?: string): ApprovalAnswer {
  const status = isFinalRefusal(refusal) ? "refused" : "unavailable";
  return buildRefusal(NO_APPROVAL, refusal.code, approvalId, status);
}

function buildRefusal(
  reason: string,
  code: string,
  approvalId: string | undefined,
  status: "refused" | "unavailable" = "refused",
): ApprovalAnswer {
  const named = { status, reason: `${reason} (${code})` } as const;
  return approvalId === undefined ? named : { ...named, approvalId };
}
