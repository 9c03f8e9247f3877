import { uuidV7 } from "@agent/crypto";
import { buildApprovalKey, type ApprovalRequest } from "../../policy/approvals.ts";
import { findPlace, type Place } from "../../policy/find-place.ts";
import { APPROVAL_LIFETIME_MS, isInForce } from "../../policy/is-in-force.ts";
import type { CallerGroup } from "../../policy/place-holder.ts";
import type { Runtime } from "../../runtime.ts";
import type { QuorumRequest, QuorumRequests } from "./quorum-requests.ts";

/** `gone` if another call has deleted the entry before. */
export type DeletedCall = "deleted" | "gone" | "not_kept";

/**
 * The places of all groups together stay below `limits.pendingApprovals`, so that the relay refuses
 * no call of the owner for those of others. The policy denies each call of a blocked caller.
 */
export const QUORUM_PLACES: Readonly<Record<CallerGroup, number>> = {
  owner: 50,
  relay: 8,
  relay_paid: 24,
  relay_free: 20,
  unknown: 24,
  first_contact: 24,
  verified: 24,
  trusted: 24,
  blocked: 0,
};
export const MAX_QUORUM_PLACES_PER_CALLER = 8;

/** The calls that wait for the votes of a quorum. */
export interface PendingCalls {
  /** Returns the entry of this call or adds one; undefined when the limits are reached. */
  getOrAdd(call: ApprovalRequest): Promise<QuorumRequest | undefined>;
  /** Deletes the entry. Only one of concurrent calls gets `deleted`, once no restart can bring it back. */
  delete(call: ApprovalRequest, entry: QuorumRequest): Promise<DeletedCall>;
  /** Records which calls an approver denied, so that their places may be given up. */
  markDenied(approvalIds: ReadonlySet<string>): Promise<void>;
}

/**
 * The relay takes no request back, so one that waits is kept; so is one that the relay did not answer,
 * because it may have it: a caller that cancels its calls could fill the relay otherwise. A denied or expired
 * one is retained, so that its call is refused, until its place is needed.
 */
function getUse({ expiresAt, isDenied }: QuorumRequest, now: number): Place["use"] {
  return isDenied === true || !isInForce(expiresAt, now) ? "spare" : "kept";
}

export function createPendingCalls(
  requests: QuorumRequests,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): PendingCalls {
  async function add(call: ApprovalRequest): Promise<QuorumRequest | undefined> {
    const now = runtime.now();
    const { holder } = call;
    const places = [...requests].map(([key, one]) => ({ ...one, key, use: getUse(one, now) }));
    const found = findPlace(places, holder, {
      perGroup: QUORUM_PLACES[holder.group],
      perCaller: MAX_QUORUM_PLACES_PER_CALLER,
    });
    if (!found.ok) return undefined;
    if (found.evicted !== undefined) void requests.delete(found.evicted.key);
    const approvalId = uuidV7(now, runtime.randomBytes(10));
    const entry = { approvalId, ...holder, expiresAt: now + APPROVAL_LIFETIME_MS };
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
    async markDenied(approvalIds) {
      const denied = [...requests].filter(
        ([, one]) => one.isDenied !== true && approvalIds.has(one.approvalId),
      );
      await Promise.all(
        denied.map(([name, one]) => requests.add(name, { ...one, isDenied: true })),
      );
    },
  };
}
