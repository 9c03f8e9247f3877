import { refuse, type Answer, type Operations } from "@agent/wire";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import { findDevice, markDeviceRevoked } from "./device-store.ts";
import { endAgentSessions } from "../end-agent-sessions.ts";
import { findAgent } from "../store.ts";

interface Revocation {
  readonly agentId: string;
  readonly deviceId: string;
  readonly caller: Caller;
}

/** Revokes a paired device. The agent's own key can only be rotated, so that no owner locks himself out. */
export async function revokeDevice(
  services: Pick<Services, "storage" | "runtime" | "tokens" | "connections">,
  { agentId, deviceId, caller }: Revocation,
): Promise<Answer<Operations["revokeDevice"]>> {
  const { storage, runtime } = services;
  const now = runtime.now();
  const revoked = await storage.transaction(async (tx) => {
    const device = await findDevice(tx, deviceId);
    if (device?.agent_id !== agentId) return refuse("device.not_found");
    const agent = await findAgent(tx, agentId);
    if (agent?.public_key === device.public_key) return refuse("device.carries_agent_key");
    if (await markDeviceRevoked(tx, deviceId, now)) {
      tx.noteChange("tokens", agentId, deviceId);
      await recordAudit(tx, now, caller, { agentId, action: "device.revoked", detail: deviceId });
    }
    return { ok: true as const };
  });
  if (!revoked.ok) return revoked;
  endAgentSessions(services, agentId, { reason: "device revoked", deviceId });
  return { status: 200, body: { device_id: deviceId, revoked: true } };
}
