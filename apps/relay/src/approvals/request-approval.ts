import { canonicalize, uuidV7 } from "@agent/crypto";
import { hashQuorum, limits, refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import { checkPendingLimit } from "./check-pending-limit.ts";
import { countPendingByApprover, findApproval, insertApproval } from "./store.ts";
import { loadApproval } from "./load-approval.ts";

type RequestApproval = Operations["requestApproval"];

interface RequestedApproval {
  readonly agentId: string;
  readonly body: BodyOf<RequestApproval>;
  readonly caller: Caller;
}

/** Asks a quorum about one call. A request under an existing id returns the existing approval. */
export async function requestApproval(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { agentId, body, caller }: RequestedApproval,
): Promise<Answer<RequestApproval>> {
  const now = runtime.now();
  const sequence = newId(runtime);
  const { approval_id = sequence, tool_name, args_hash, quorum_required } = body;
  return storage.transaction(async (tx) => {
    if ((await findAgent(tx, agentId)) === undefined) return refuse("agent.not_found");
    const known = await findApproval(tx, { agent_id: agentId, approval_id });
    if (known !== undefined) {
      const approval = await loadApproval(tx, known);
      const isSame =
        approval.tool_name === tool_name &&
        approval.args_hash === args_hash &&
        approval.quorum_hash === hashQuorum(body);
      return isSame ? { status: 200 as const, body: approval } : refuse("approval.id_taken");
    }
    const approvers = new Set(body.quorum_approvers);
    const after = uuidV7(now - limits.pendingApprovalMs, new Uint8Array(10));
    const pending = await countPendingByApprover(tx, { agent_id: agentId, after, approvers });
    const refusal = checkPendingLimit(pending);
    if (refusal !== undefined) return refusal;
    const row = {
      agent_id: agentId,
      approval_id,
      sequence,
      tool_name,
      args_hash,
      quorum_required,
      status: "pending" as const,
      created_at: now,
      resolved_at: null,
      arguments: body.arguments === undefined ? null : canonicalize(body.arguments),
    };
    await insertApproval(tx, row, approvers);
    const action = "approval.requested";
    await recordAudit(tx, now, caller, { agentId, action, detail: approval_id });
    return { status: 201 as const, body: await loadApproval(tx, row) };
  });
}
