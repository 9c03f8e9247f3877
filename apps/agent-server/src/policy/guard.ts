import { bytesToHex } from "@agent/crypto";
import { callerKey, getTrustLevel } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { JsonObject } from "../tools/definition.ts";
import type { ApprovalAnswer, Approver } from "./approvals.ts";
import type { AuditLog } from "./audit-log.ts";
import { type FindKnownLevel, getPlaceHolder } from "./place-holder.ts";
import { getRisk, type Decision, type PolicyCheck, type ToolCall } from "./policy-check.ts";

export interface GuardedCall extends ToolCall {
  readonly args: JsonObject;
  /** SHA-256 of the canonical JSON of `args`, lower-case hex. */
  readonly argsHash: string;
  /** The reason why the tool currently refuses all calls. */
  readonly refusal?: string | undefined;
  /** Aborts the wait for an approval. */
  readonly signal?: AbortSignal | undefined;
}

export type GuardResult =
  /** `recordCompletion` records the result of the call. */
  | { readonly ok: true; readonly recordCompletion: (ok: boolean) => void }
  /** `unavailable`: the call cannot be decided now. */
  | { readonly ok: false; readonly kind: "denied" | "unavailable"; readonly message: string };

/** Decides about every tool call before it runs. */
export type Guard = (call: GuardedCall) => Promise<GuardResult>;

/**
 * Creates a guard: the policy decides, the approver settles calls that need an approval, and the
 * audit log records the decision before the call runs.
 */
export function createGuard(parts: {
  checkPolicy: PolicyCheck;
  approver: Approver;
  audit: AuditLog;
  findKnownLevel?: FindKnownLevel | undefined;
  runtime: Runtime;
}): Guard {
  const { checkPolicy, approver, audit, findKnownLevel, runtime } = parts;
  // Several runs and several agents may write to one file.
  const runId = bytesToHex(runtime.randomBytes(8));
  let calls = 0;

  return async (call) => {
    const resolved =
      call.refusal === undefined
        ? await resolveDecision(call, checkPolicy(call))
        : { decision: "denied" as const, message: call.refusal };
    calls += 1;
    const callId = `${runId}-${calls}`;
    const { tool, caller, task, argsHash } = call;
    try {
      await audit.recordDecision({
        call_id: callId,
        tool: tool.name,
        risk: getRisk(tool),
        caller: callerKey(caller),
        trust: getTrustLevel(caller),
        ...(task !== undefined && { task_id: task.taskId }),
        args_hash: argsHash,
        decision: resolved.decision,
        ...(resolved.message !== undefined && { reason: resolved.message }),
        ...(resolved.approvalId !== undefined && { approval_id: resolved.approvalId }),
      });
    } catch (cause) {
      runtime.log("error", "audit.failed", { cause: String(cause) });
      const message = "Policy denied: the audit log cannot be written";
      return { ok: false, kind: "denied", message };
    }
    if (resolved.message !== undefined) {
      const kind = resolved.isUnavailable === true ? "unavailable" : "denied";
      return { ok: false, kind, message: resolved.message };
    }
    const startedAt = runtime.now();
    return {
      ok: true,
      recordCompletion(ok) {
        // The clock may have been set back meanwhile.
        const duration_ms = Math.max(0, runtime.now() - startedAt);
        audit.recordCompletion({ call_id: callId, tool: tool.name, ok, duration_ms });
      },
    };
  };

  async function resolveDecision(call: GuardedCall, decision: Decision): Promise<ResolvedDecision> {
    if (decision.ok) return { decision: "allowed" };
    const { kind, message } = decision;
    if (kind === "denied") return { decision: "denied", message };
    const { tool, caller, task, args, argsHash, signal } = call;
    const holder = getPlaceHolder(caller, task, findKnownLevel);
    const request = { tool: tool.name, risk: getRisk(tool), holder, args, argsHash };
    return resolveApproval(await approver.requestApproval(request, signal), message);
  }
}

/** Decides by the approver's answer about a call that the policy holds for `message`. */
function resolveApproval(answer: ApprovalAnswer, message: string): ResolvedDecision {
  switch (answer.status) {
    case "approved":
      return { decision: "allowed", approvalId: answer.approvalId };
    case "denied": {
      const refused = "Policy denied: the owner refused this call";
      return { decision: "denied", message: refused, approvalId: answer.approvalId };
    }
    case "pending": {
      const { approvalId } = answer;
      const named = `${message}, approval_id ${approvalId}`;
      return { decision: "approval_required", message: named, approvalId };
    }
    case "refused":
    case "unavailable": {
      const { approvalId, reason, status } = answer;
      const refused = `Policy denied: ${reason}`;
      return {
        decision: "denied",
        message: refused,
        isUnavailable: status === "unavailable",
        ...(approvalId !== undefined && { approvalId }),
      };
    }
    case "full":
      return { decision: "approval_required", message };
  }
}

interface ResolvedDecision {
  readonly decision: "allowed" | "denied" | "approval_required";
  /** The reason why the call must not run; absent when it may. */
  readonly message?: string;
  /** Whether the decision may be another one later. */
  readonly isUnavailable?: boolean;
  readonly approvalId?: string;
}
