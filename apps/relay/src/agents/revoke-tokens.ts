import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import { revokeToken } from "../identity/spend-token.ts";
import type { Services } from "../services.ts";
import { endAgentSessions } from "./end-agent-sessions.ts";
import { findAgent } from "./store.ts";

interface Revocation {
  readonly agentId: string;
  readonly jtis: readonly string[];
  readonly caller: Caller;
}

/** Revokes tokens by their ids, used or not; the agent's sockets must sign in again. */
export async function revokeTokens(
  services: Pick<Services, "storage" | "runtime" | "tokens" | "connections">,
  { agentId, jtis, caller }: Revocation,
): Promise<Answer<Operations["revokeTokens"]>> {
  const { storage, runtime } = services;
  const now = runtime.now();
  const ids = new Set(jtis);
  const revoked = await storage.transaction(async (tx) => {
    if ((await findAgent(tx, agentId)) === undefined) return refuse("agent.not_found");
    for (const jti of ids) await revokeToken(tx, { agentId, jti, now });
    tx.noteChange("tokens", agentId);
    const detail = String(ids.size);
    await recordAudit(tx, now, caller, { agentId, action: "tokens.revoked", detail });
    return { ok: true as const };
  });
  if (!revoked.ok) return revoked;
  endAgentSessions(services, agentId, { reason: "token revoked" });
  return { status: 200, body: { agent_id: agentId, revoked: ids.size } };
}
