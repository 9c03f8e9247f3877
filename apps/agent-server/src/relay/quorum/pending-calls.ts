import { uuidV7 } from "@agent/crypto";
import { callerKey } from "../../caller.ts";
import { approvalLimits, buildApprovalKey, type ApprovalRequest } from "../../policy/approvals.ts";
import type { Runtime } from "../../runtime.ts";
import type { QuorumRequest, QuorumRequests } from "./quorum-requests.ts";

/** `gone` if another call has deleted the entry before. */
export type DeletedCall = "deleted" | "gone" | "not_kept";

/** The calls that wait for the votes of a quorum, within the limits of approvals. */
export interface PendingCalls {
  /** Returns the entry of this call or adds one; undefined when the limits are reached. */
  getOrAdd(call: ApprovalRequest): Promise<QuorumRequest | undefined>;
  /** Deletes the entry. Only one of concurrent calls gets `deleted`, once no restart can bring it back. */
  delete(call: ApprovalRequest, entry: QuorumRequest): Promise<DeletedCall>;
}

export function createPendingCalls(
  requests: QuorumRequests,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): PendingCalls {
  function hasCapacity(caller: string): boolean {
    const { calls, callsPerCaller } = approvalLimits;
    const own = [...requests].filter(([, one]) => one.caller === caller);
    return requests.size < calls && own.length < callsPerCaller;
  }

  async function add(call: ApprovalRequest): Promise<QuorumRequest | undefined> {
    const now = runtime.now();
    const caller = callerKey(call.caller);
    // Expired entries are retained, so that their calls are refused as expired, until their place
    // is needed.
    if (!hasCapacity(caller)) {
      for (const [name, { expiresAt }] of requests) {
        if (expiresAt <= now) void requests.delete(name);
      }
    }
    if (!hasCapacity(caller)) return undefined;
    const approvalId = uuidV7(now, runtime.randomBytes(10));
    const entry = { approvalId, caller, expiresAt: now + approvalLimits.lifetimeMs };
    await requests.add(buildApprovalKey(call), entry);
    return entry;
  }

  return {
    getOrAdd: async (call) => requests.get(buildApprovalKey(call)) ?? add(call),
    async delete(call, { approvalId }) {
      const name = buildApprovalKey(call);
      if (requests.get(name)?.approvalId !== approvalId) return "gone";
      return (await requests.delete(name)) ? "deleted" : "not_kept";
    },
  };
}
