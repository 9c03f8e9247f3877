import type { Services } from "../../services.ts";
import { AWAKE_MS } from "./freshness.ts";
import { listAwakeAgents } from "./online-store.ts";

/** Lists the agents that are online: with a socket at any process, or by the rule of `isOnline`. */
export async function listOnlineAgents({
  storage,
  runtime,
  connections,
}: Pick<Services, "storage" | "runtime" | "connections">): Promise<ReadonlySet<string>> {
  const awake = await listAwakeAgents(storage.read, runtime.now() - AWAKE_MS);
  return new Set([...connections.listAgents(), ...awake]);
}
