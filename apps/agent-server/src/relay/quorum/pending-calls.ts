import { uuidV7 } from "@agent/crypto";
import { callerKey } from "../../caller.ts";
import { approvalLimits, buildApprovalKey, type ApprovalRequest } from "../../policy/approvals.ts";
import type { Runtime } from "../../runtime.ts";
import type { QuorumRequest, QuorumRequests } from "./quorum-requests.ts";

/** The calls that wait for the votes of a quorum, as many as the limits of approvals allow. */
export interface PendingCalls {
  /** The entry of this call, a new one where there is none; undefined: there is no room for it. */
  getOrAdd(call: ApprovalRequest): Promise<QuorumRequest | undefined>;
  /** Deletes the entry, unless the call was asked about anew meanwhile. */
  delete(call: ApprovalRequest, entry: QuorumRequest): void;
}

export function createPendingCalls(
  asked: QuorumRequests,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): PendingCalls {
  function hasCapacity(caller: string): boolean {
    const { calls, callsPerCaller } = approvalLimits;
    const own = [...asked].filter(([, one]) => one.caller === caller);
    return asked.size < calls && own.length < callsPerCaller;
  }

  async function add(call: ApprovalRequest): Promise<QuorumRequest | undefined> {
    const now = runtime.now();
    const caller = callerKey(call.caller);
    // What has ended is kept to be told so, unless its place is needed.
    if (!hasCapacity(caller)) {
      for (const [name, { expiresAt }] of asked) if (expiresAt <= now) asked.delete(name);
    }
    if (!hasCapacity(caller)) return undefined;
    const approvalId = uuidV7(now, runtime.randomBytes(10));
    const entry = { approvalId, caller, expiresAt: now + approvalLimits.lifetimeMs };
    await asked.add(buildApprovalKey(call), entry);
    return entry;
  }

  return {
    getOrAdd: async (call) => asked.get(buildApprovalKey(call)) ?? add(call),
    delete(call, { approvalId }) {
      const name = buildApprovalKey(call);
      if (asked.get(name)?.approvalId === approvalId) asked.delete(name);
    },
  };
}
