import { uuidV7 } from "@agent/crypto";
import type { Runtime } from "../runtime.ts";
import type { JsonObject } from "../tools/definition.ts";
import { findPlace, type Place } from "./find-place.ts";
import { APPROVAL_LIFETIME_MS, isInForce } from "./is-in-force.ts";
import type { PlaceHolder } from "./place-holder.ts";

/** A call that waits for the owner's decision. */
export interface Approval extends PlaceHolder {
  readonly approvalId: string;
  readonly tool: string;
  /** 0 to 4. */
  readonly risk: number;
  /** SHA-256 of the arguments' canonical JSON, lower-case hex; the approval covers only these. */
  readonly argsHash: string;
  /** The arguments for the owner's review; null when they are too long to be stored. */
  readonly args: JsonObject | null;
  /** Milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly status: "pending" | "approved" | "denied";
}

export interface ApprovalRequest {
  readonly tool: string;
  readonly risk: number;
  /** The approval is for this caller alone. */
  readonly holder: PlaceHolder;
  readonly args: JsonObject;
  readonly argsHash: string;
}

export type ApprovalResult =
  | { readonly status: "approved" | "denied" | "pending"; readonly approvalId: string }
  /** The limit of waiting calls is reached, so this one was not added. */
  | { readonly status: "full" };

export type ApprovalAnswer =
  | ApprovalResult
  /** The call is refused, or cannot be decided now and may be repeated; `reason` ends with a code. */
  | {
      readonly status: "refused" | "unavailable";
      readonly reason: string;
      readonly approvalId?: string;
    };

/** The authority that decides about calls: the owner, or a quorum at the relay. */
export interface Approver {
  /** Uses an approval of exactly this call up; without one the call waits for a decision. */
  requestApproval(
    call: ApprovalRequest,
    signal?: AbortSignal,
  ): ApprovalAnswer | Promise<ApprovalAnswer>;
}

export type DecideResult =
  | { readonly ok: true; readonly approval: Approval }
  | { readonly ok: false; readonly code: "approval.not_found" | "approval.resolved" };

export interface Approvals extends Approver {
  /** Lists the requested approvals that are not consumed, oldest first. */
  list(): readonly Approval[];
  /** Records the owner's decision; with a file it survives a restart once this resolves. */
  decide(approvalId: string, status: "approved" | "denied"): DecideResult | Promise<DecideResult>;
}

/** Approvals in memory. */
export interface InMemoryApprovals extends Approvals {
  requestApproval(call: ApprovalRequest): ApprovalResult;
  decide(approvalId: string, status: "approved" | "denied"): DecideResult;
}

const PLACE_LIMITS = { perGroup: 1_000, perCaller: 50 };
const MAX_ARGUMENT_CHARACTERS = 16_384;

/** Builds the key of an approval, which is for one caller, tool and arguments. */
export function buildApprovalKey({ holder, tool, argsHash }: ApprovalRequest): string {
  return `${holder.caller} ${tool} ${argsHash}`;
}

/**
 * Only a granted approval is kept for its call: after a denial the call must simply be asked about again,
 * and a pending request can be made again.
 */
const USES = { pending: "held", approved: "kept", denied: "spare" } as const satisfies {
  readonly [Status in Approval["status"]]: Place["use"];
};

/**
 * Creates approvals in memory, by the keys of their calls; `createPersistentApprovals` also stores
 * them in a file.
 */
export function createApprovals(
  runtime: Pick<Runtime, "now" | "randomBytes">,
  byKey = new Map<string, Approval>(),
): InMemoryApprovals {
  function purgeExpired(): void {
    const now = runtime.now();
    for (const [name, { expiresAt }] of byKey) if (!isInForce(expiresAt, now)) byKey.delete(name);
  }

  function addPending(
    name: string,
    { tool, risk, holder, args, argsHash }: ApprovalRequest,
  ): ApprovalResult {
    const places = [...byKey].map(([key, one]) => ({ ...one, key, use: USES[one.status] }));
    const found = findPlace(places, holder, PLACE_LIMITS);
    if (!found.ok) return { status: "full" };
    if (found.evicted !== undefined) byKey.delete(found.evicted.key);
    const now = runtime.now();
    const approvalId = uuidV7(now, runtime.randomBytes(10));
    byKey.set(name, {
      approvalId,
      tool,
      risk,
      ...holder,
      argsHash,
      args: JSON.stringify(args).length <= MAX_ARGUMENT_CHARACTERS ? args : null,
      requestedAt: now,
      expiresAt: now + APPROVAL_LIFETIME_MS,
      status: "pending",
    });
    return { status: "pending", approvalId };
  }

  return {
    requestApproval(call) {
      purgeExpired();
      const name = buildApprovalKey(call);
      const known = byKey.get(name);
      if (known === undefined) return addPending(name, call);
      const { status, approvalId } = known;
      if (status === "approved") byKey.delete(name);
      return { status, approvalId };
    },
    list() {
      purgeExpired();
      return [...byKey.values()];
    },
    decide(approvalId, status) {
      purgeExpired();
      const entry = [...byKey].find(([, one]) => one.approvalId === approvalId);
      if (entry === undefined) return { ok: false, code: "approval.not_found" };
      const [name, approval] = entry;
      if (approval.status !== "pending") return { ok: false, code: "approval.resolved" };
      const decided = { ...approval, status };
      byKey.set(name, decided);
      return { ok: true, approval: decided };
    },
  };
}
