import type { ListingBody } from "@agent/wire";
import type { Connections } from "../../realtime/connections.ts";
import { getFreshness } from "./freshness.ts";

/** Returns whether an agent is reachable: a device is connected, or it has an endpoint and a recent heartbeat. */
export function isOnline(
  agent: {
    readonly agent_id: string;
    readonly registered: 0 | 1;
    readonly endpoint_url: string | null;
    readonly last_seen_at: number;
  },
  connections: Pick<Connections, "isOnline">,
  now: number,
): boolean {
  if (connections.isOnline(agent.agent_id)) return true;
  const callable = agent.registered === 1 && agent.endpoint_url !== null;
  return callable && getFreshness(agent.last_seen_at, now) === "awake";
}

/** Returns 1 for a reachable agent, else half of the availability that its listing promises. */
export function getAvailability(online: boolean, listing: ListingBody | undefined): number {
  return online ? 1 : (listing?.sla?.availability_guarantee ?? 0) * 0.5;
}
