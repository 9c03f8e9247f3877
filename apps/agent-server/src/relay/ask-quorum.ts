import type { RelayClient } from "@agent/client";
import { hexToBytes, publicKeyToDidKey, uuidV7 } from "@agent/crypto";
import { verifyQuorum, type Quorum } from "@agent/wire";
import { callerKey } from "../caller.ts";
import {
  approvalLimits,
  callName,
  type Approver,
  type Taken,
  type WantedCall,
} from "../policy/approvals.ts";
import type { Runtime } from "../runtime.ts";
import type { AskedCall, AskedCalls } from "./asked-calls.ts";
import { notJoined } from "./stay-joined.ts";

/** A caller waits no longer for a relay that hangs. */
const timeoutMs = 10_000;

/**
 * Leaves calls to the votes of other agents, which the home relay collects. The relay knows the tool and the
 * hash of the arguments; whose call it was is known here only. The relay's count is not believed: the votes
 * are verified here, under the keys that the owner named.
 */
export function askQuorum(parts: {
  agentId: string;
  quorum: Quorum;
  asked: AskedCalls;
  /** Absent while the relay is not joined. */
  client: () => Pick<RelayClient, "requestApproval" | "useApproval"> | undefined;
  /** The relay's own key as 64 hex digits, pinned when it was joined; absent until then. */
  relayKey: () => string | undefined;
  runtime: Pick<Runtime, "now" | "randomBytes">;
}): Approver {
  const { agentId, asked, runtime } = parts;
  const { required: quorum_required, approvers } = parts.quorum;
  const quorum_approvers = approvers.map(({ agent_id }) => agent_id);

  function hasRoom(caller: string): boolean {
    const { calls, callsPerCaller } = approvalLimits;
    const own = [...asked].filter(([, one]) => one.caller === caller);
    return asked.size < calls && own.length < callsPerCaller;
  }

  async function note(call: WantedCall): Promise<AskedCall | undefined> {
    const now = runtime.now();
    const caller = callerKey(call.caller);
    // What has ended is kept to be told so, unless its place is needed.
    if (!hasRoom(caller)) {
      for (const [name, { expiresAt }] of asked) if (expiresAt <= now) asked.delete(name);
    }
    if (!hasRoom(caller)) return undefined;
    const approvalId = uuidV7(now, runtime.randomBytes(10));
    const entry = { approvalId, caller, expiresAt: now + approvalLimits.lifetimeMs };
    await asked.add(callName(call), entry);
    return entry;
  }

  function forget(call: WantedCall, { approvalId }: AskedCall): void {
    const name = callName(call);
    if (asked.get(name)?.approvalId === approvalId) asked.delete(name);
  }

  return {
    async take(call, signal): Promise<Taken> {
      const client = parts.client();
      const relayKey = parts.relayKey();
      if (client === undefined || relayKey === undefined) return notAnswered(notJoined.code);
      const entry = asked.get(callName(call)) ?? (await note(call));
      if (entry === undefined) return { status: "full" };
      const { approvalId, expiresAt } = entry;
      if (expiresAt <= runtime.now()) {
        forget(call, entry);
        return refused("the time to approve this call is over", "approval.expired", approvalId);
      }

      const perCall = { timeoutMs, ...(signal !== undefined && { signal }) };
      const { tool: tool_name, argsHash: args_hash } = call;
      const wanted = { tool_name, args_hash };
      // Under one id the relay takes a request once, and tells at each repeat how it stands.
      const body = { ...wanted, approval_id: approvalId, quorum_required, quorum_approvers };
      const answer = await client.requestApproval({ params: { agentId }, body }, perCall);
      if (!answer.ok) return notAnswered(answer.code, approvalId);
      const { status } = answer.body;
      if (status === "pending") return { status: "pending", approvalId };
      if (status === "denied") {
        return refused("an approver refused this call", "approval.denied", approvalId);
      }

      // A word of a later version gives no leave, and does not say that the approval is over either.
      if (status !== "approved" && status !== "used") {
        return notAnswered("approval.status_unknown", approvalId);
      }

      if (status === "approved") {
        const named = { approval_id: approvalId, agent_id: agentId, ...wanted };
        const relay = publicKeyToDidKey(hexToBytes(relayKey));
        const verified = verifyQuorum(named, parts.quorum, { votes: answer.body.votes, relay });
        if (!verified.ok) {
          return refused("the votes for this call do not verify", verified.code, approvalId);
        }
        const params = { agentId, approvalId };
        const used = await client.useApproval({ params, body: wanted }, perCall);
        if (used.ok) {
          forget(call, entry);
          return { status: "approved", approvalId };
        }
        if (used.code !== "approval.not_approved") return notAnswered(used.code, approvalId);
      }
      // By the same call at the same time, or by one that never heard of it.
      forget(call, entry);
      return refused("the approval of this call is used up", "approval.used", approvalId);
    },
  };
}

function notAnswered(code: string, approvalId?: string): Taken {
  return refused("the relay gave no approval", code, approvalId);
}

function refused(reason: string, code: string, approvalId?: string): Taken {
  const named = { status: "refused", reason: `${reason} (${code})` } as const;
  return approvalId === undefined ? named : { ...named, approvalId };
}
