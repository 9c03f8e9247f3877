import type { ListingBody } from "@agent/wire";
import type { Connections } from "../../realtime/connections.ts";
import { AWAKE_MS } from "./freshness.ts";

/** The columns that decide about the time for which an agent is online without a socket. */
export interface LastSign {
  readonly registered: 0 | 1;
  readonly endpoint_url: string | null;
  readonly last_seen_at: number;
  readonly unreachable_at: number | null;
}

/**
 * Returns the time until which an agent counts as online without a socket: a while after its last sign of
 * life, and never without an endpoint or once a call found no MCP server there (docs/decisions.md, 3).
 */
export function getOnlineUntil(agent: LastSign): number {
  const isCallable = agent.registered === 1 && agent.endpoint_url !== null;
  return isCallable && agent.unreachable_at === null ? agent.last_seen_at + AWAKE_MS : -Infinity;
}

/** Returns whether an agent is online: a device is connected, or its endpoint is expected to answer. */
export function isOnline(
  agent: LastSign & { readonly agent_id: string },
  connections: Pick<Connections, "isOnline">,
  now: number,
): boolean {
  return connections.isOnline(agent.agent_id) || now < getOnlineUntil(agent);
}

/** Returns 1 for a reachable agent, otherwise half of the availability that its listing promises. */
export function getAvailability(online: boolean, listing: ListingBody | undefined): number {
  return online ? 1 : (listing?.sla?.availability_guarantee ?? 0) * 0.5;
}
