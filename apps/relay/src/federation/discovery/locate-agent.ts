import type { Micro } from "@agent/budget";
import { findClaimWithKey, isReachable } from "@agent/federation-protocol/discovery";
import { refuse, type Refusal } from "@agent/wire";
import { findAgent } from "../../agents/store.ts";
import type { Attempt } from "../../routing/attempt.ts";
import { findRemoteAgent } from "./search-remote-agents.ts";
import type { FederationServices } from "../federation-services.ts";
import { calculateRemotePrice, nextHopTo, type PinnedAgent } from "./list-remote-candidates.ts";

/** An agent of another relay as the executor of a task. */
export interface RemoteTarget extends Omit<Attempt, "charge"> {
  /** In micro-units; null where the agent does not sell the task. */
  readonly charge: Micro | null;
}

/**
 * Finds the route to an agent that is not local; undefined if no peer knows it. Refuses with
 * `task.id_conflict` if peers know it only under keys other than `publicKey`, or under several keys and the
 * submission names none.
 */
export async function locateAgent(
  services: FederationServices,
  { agentId, publicKey }: PinnedAgent,
  required: readonly string[],
): Promise<
  { readonly ok: true; readonly quote: RemoteTarget } | Refusal<"task.id_conflict"> | undefined
> {
  if ((await findAgent(services.storage.read, agentId)) !== undefined) return undefined;
  const claimed = await findRemoteAgent(services, agentId);
  if (claimed === undefined || !isReachable(claimed)) return undefined;
  const known = findClaimWithKey(claimed, publicKey);
  if (known === undefined || !isReachable(known)) return refuse("task.id_conflict");
  const charge = calculateRemotePrice(known, required);
  return { ok: true, quote: { agent_id: agentId, charge, via: nextHopTo(services, known) } };
}
