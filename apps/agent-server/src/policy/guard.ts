import { bytesToHex } from "@agent/crypto";
import { callerKey, trustOf } from "../caller.ts";
import type { Runtime } from "../runtime.ts";
import type { JsonObject } from "../tools/definition.ts";
import type { Approver } from "./approvals.ts";
import type { Audit } from "./audit.ts";
import { riskOf, type Decision, type Gate, type ToolCall } from "./gate.ts";

export interface GuardedCall extends ToolCall {
  readonly args: JsonObject;
  /** SHA-256 of the canonical JSON of `args`, lowercase hex. */
  readonly argsHash: string;
  /** Why the tool takes no call at the moment. */
  readonly refusal?: string | undefined;
  /** Ends the wait for an answer about it. */
  readonly signal?: AbortSignal | undefined;
}

export type Verdict =
  /** `finished` notes how the call ended. */
  | { readonly ok: true; readonly finished: (ok: boolean) => void }
  | { readonly ok: false; readonly message: string };

/** Asked before every tool call. */
export type Guard = (call: GuardedCall) => Promise<Verdict>;

/**
 * The gate decides, the approver settles what it leaves open, and the audit log has it before anything
 * runs.
 */
export function createGuard(parts: {
  gate: Gate;
  approver: Approver;
  audit: Audit;
  runtime: Runtime;
}): Guard {
  const { gate, approver, audit, runtime } = parts;
  // Several runs, and several agents, may write into one file.
  const run = bytesToHex(runtime.randomBytes(8));
  let calls = 0;

  return async (call) => {
    const settled =
      call.refusal === undefined
        ? await settle(call, gate(call))
        : { decision: "denied" as const, message: call.refusal };
    calls += 1;
    const callId = `${run}-${calls}`;
    const { tool, caller, task, argsHash } = call;
    try {
      await audit.decided({
        call_id: callId,
        tool: tool.name,
        risk: riskOf(tool),
        caller: callerKey(caller),
        trust: trustOf(caller),
        ...(task !== undefined && { task_id: task.taskId }),
        args_hash: argsHash,
        decision: settled.decision,
        ...(settled.message !== undefined && { reason: settled.message }),
        ...(settled.approvalId !== undefined && { approval_id: settled.approvalId }),
      });
    } catch (cause) {
      runtime.log("error", "audit.failed", { cause: String(cause) });
      return { ok: false, message: "Policy denied: the audit log cannot be written" };
    }
    if (settled.message !== undefined) return { ok: false, message: settled.message };
    const startedAt = runtime.now();
    return {
      ok: true,
      finished(ok) {
        const duration = runtime.now() - startedAt;
        audit.finished({ call_id: callId, tool: tool.name, ok, duration_ms: duration });
      },
    };
  };

  async function settle(call: GuardedCall, decision: Decision): Promise<Settled> {
    if (decision.ok) return { decision: "allowed" };
    const { kind, message } = decision;
    if (kind === "denied") return { decision: "denied", message };
    const { tool, caller, args, argsHash, signal } = call;
    const wanted = { tool: tool.name, risk: riskOf(tool), caller, args, argsHash };
    const taken = await approver.take(wanted, signal);
    switch (taken.status) {
      case "approved":
        return { decision: "allowed", approvalId: taken.approvalId };
      case "denied": {
        const refused = "Policy denied: the owner refused this call";
        return { decision: "denied", message: refused, approvalId: taken.approvalId };
      }
      case "pending": {
        const { approvalId } = taken;
        const named = `${message}, approval_id ${approvalId}`;
        return { decision: "approval_required", message: named, approvalId };
      }
      case "refused": {
        const { approvalId, reason } = taken;
        const refused = `Policy denied: ${reason}`;
        return {
          decision: "denied",
          message: refused,
          ...(approvalId !== undefined && { approvalId }),
        };
      }
      case "full":
        return { decision: "approval_required", message };
    }
  }
}

interface Settled {
  readonly decision: "allowed" | "denied" | "approval_required";
  /** Why not; absent when it may run. */
  readonly message?: string;
  readonly approvalId?: string;
}
