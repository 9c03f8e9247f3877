import type { Services } from "../../services.ts";
import { AWAKE_MS } from "./freshness.ts";
import { countAwakeAgents } from "./online-store.ts";

/** Counts the agents that are online: with a socket, or by the rule of `isOnline`. */
export async function countOnlineAgents({
  storage,
  runtime,
  connections,
}: Pick<Services, "storage" | "runtime" | "connections">): Promise<number> {
  const connected = connections.listAgents();
  const awake = await countAwakeAgents(storage.read, {
    since: runtime.now() - AWAKE_MS,
    connected: JSON.stringify([...connected]),
  });
  return connected.size + awake;
}
