import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { recordAudit } from "../audit/record-audit.ts";
import { refuseField } from "../http/server/validate.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { AgentRow } from "../storage/tables/agents.ts";
import { checkVisibility } from "../visibility/check-visibility.ts";
import { bindKey, endOldKeySessions, createAgentRow } from "./bootstrap-agent.ts";
import { deleteListing, findListing } from "./discovery/listing-store.ts";
import { reindexCapabilities } from "./discovery/listing.ts";
import { findAgent, saveAgent, updateLastSeen } from "./store.ts";

type Register = Operations["registerAgent"];

/** Puts an agent into the discovery registry; with `public_key` it binds or changes the key too. */
export async function registerAgent(
  services: Pick<
    Services,
    "storage" | "runtime" | "identity" | "tokens" | "trustGraph" | "connections" | "egress"
  >,
  body: BodyOf<Register>,
  caller: Caller,
): Promise<Answer<Register>> {
  const { runtime, storage, egress } = services;
  const { agent_id, public_key, succession } = body;
  if (agent_id === services.identity.relayId) return refuse("agent.id_reserved");
  const address = egress.checkUrl(body.endpoint_url);
  if (!address.ok && address.code === "egress.url_invalid") {
    return refuseField("endpoint_url", "must be a valid URL");
  }
  const now = runtime.now();

  const result = await storage.transaction(async (tx) => {
    const bound =
      public_key === undefined
        ? undefined
        : await bindKey(
            tx,
            services,
            { agent_id, public_key, succession, isProven: false },
            caller,
          );
    if (bound !== undefined && !bound.ok) return bound;
    const agent = (await findAgent(tx, agent_id)) ?? createAgentRow(agent_id, now);
    if (agent.revoked_at !== null) return refuse("agent.revoked");
    const { federation_visible: visible } = body;
    const registered = {
      ...agent,
      endpoint_url: body.endpoint_url,
      capabilities: JSON.stringify(body.capabilities),
      metadata: JSON.stringify(body.metadata ?? {}),
      federation_visible:
        visible === undefined ? agent.federation_visible : visible ? (1 as const) : (0 as const),
      registered: 1 as const,
      last_seen_at: now,
      unreachable_at: null,
    };
    await saveAgent(tx, registered);
    if (hasRegistrationChanged(agent, registered)) {
      await recordAudit(tx, now, caller, { agentId: agent_id, action: "agent.registered" });
    }
    const listing = await findListing(tx, agent_id);
    await reindexCapabilities(tx, registered, listing);
    return { ok: true as const, bound, agent: registered, listing };
  });
  if (!result.ok) return result;
  if (result.bound !== undefined) endOldKeySessions(services, agent_id, result.bound);

  const checks = await checkVisibility(services, result.agent, result.listing);
  // A registration never expires; its freshness decays instead (docs/decisions.md, 3).
  return { status: 200, body: { registered: true, agent_id, expires_at: null, checks } };
}

/** Returns whether an agent registered again without any change, which only counts as a sign of life. */
function hasRegistrationChanged(before: AgentRow, after: AgentRow): boolean {
  return (["endpoint_url", "capabilities", "registered", "federation_visible"] as const).some(
    (member) => before[member] !== after[member],
  );
}

/** Records a heartbeat of an agent. */
export async function recordAgentHeartbeat(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  agent_id: string,
): Promise<Answer<Operations["heartbeat"]>> {
  const now = runtime.now();
  return storage.transaction(async (tx) => {
    if ((await findAgent(tx, agent_id)) === undefined) return refuse("agent.not_found");
    await updateLastSeen(tx, agent_id, now);
    return { status: 200 as const, body: { agent_id, last_seen_at: now } };
  });
}

/** Removes an agent and its listing from discovery; key, account and history stay. */
export async function deregisterAgent(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  agent_id: string,
  caller: Caller,
): Promise<Answer<Operations["deregisterAgent"]>> {
  return storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agent_id);
    if (agent === undefined || agent.registered === 0) return refuse("agent.not_found");
    const deregistered = { ...agent, registered: 0 as const, endpoint_url: null };
    await saveAgent(tx, deregistered);
    await deleteListing(tx, agent_id);
    await reindexCapabilities(tx, deregistered, undefined);
    await recordAudit(tx, runtime.now(), caller, {
      agentId: agent_id,
      action: "agent.deregistered",
    });
    return { status: 200 as const, body: { agent_id, registered: false as const } };
  });
}
