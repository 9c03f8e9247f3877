import type { Micro } from "@agent/budget";
import { isReachable } from "@agent/federation-protocol";
import { findAgent } from "../agents/store.ts";
import type { Attempt } from "../routing/attempt.ts";
import { findRemote } from "./discover-remote.ts";
import type { FederationServices } from "./federation.ts";
import { priceOfRemote, viaOf } from "./remote-candidates.ts";

/** An agent of another relay as the executor of a task. */
export interface RemoteTarget extends Omit<Attempt, "charge"> {
  /** In micro-units; null where the agent does not sell the task. */
  readonly charge: Micro | null;
}

/** How a task comes to an agent that this relay does not know itself; undefined if no peer does. */
export async function locateAgent(
  services: FederationServices,
  agentId: string,
  required: readonly string[],
): Promise<RemoteTarget | undefined> {
  if ((await findAgent(services.storage.read, agentId)) !== undefined) return undefined;
  const known = await findRemote(services, agentId);
  if (known === undefined || !isReachable(known)) return undefined;
  return {
    agent_id: agentId,
    charge: priceOfRemote(known, required),
    via: viaOf(services, known),
  };
}
