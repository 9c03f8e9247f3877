import { isKeyDerivedId } from "@agent/crypto";
import { createQuery } from "@agent/federation-protocol/discovery";
import { limits } from "@agent/wire";
import { findAgent } from "../../agents/store.ts";
import { newId } from "../../runtime.ts";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import { listRemoteKeys } from "./agent-key-store.ts";
import { queryPeers } from "../discovery/query-peers.ts";
import type { FederationDependencies, FederationServices } from "../federation-services.ts";

interface AgentKey {
  readonly agent_id: string;
  readonly public_key: string;
}

/**
 * Whether peers may know an id under another key: not if the id proves its key, or the operator binds
 * it.
 */
export function mayBeForeignAgentId(agentId: string, caller: Caller): boolean {
  return caller.kind !== "master" && !isKeyDerivedId(agentId);
}

/** The effect of work from other relays on the first binding of its agent's id. */
export interface RemoteWork {
  /**
   * A peer that the operator admitted has sent work of its own agent with this id under another key.
   */
  readonly isBarred: boolean;
  /**
   * The reputation of the id was earned under another key, so it does not apply to the agent bound now.
   */
  readonly isUnderAnotherKey: boolean;
}

/** Checks the first binding of an id to an agent that has had these keys, the bound one included. */
export async function checkRemoteWork(
  read: Reader,
  agentId: string,
  keys: readonly string[],
): Promise<RemoteWork> {
  const remote = await listRemoteKeys(read, agentId);
  const others = remote.filter(({ publicKey }) => !keys.includes(publicKey));
  return {
    isBarred: others.some(({ isAdmitted }) => isAdmitted),
    isUnderAnotherKey: others.length > 0,
  };
}

/**
 * Returns whether a peer that the operator admitted claims a new id under another key. Each such peer is
 * asked once for its own agents, with the timeout of discovery. Claims of other peers do not count, because
 * a stranger could block any new agent with them.
 */
export async function isAgentIdClaimedByPeer(
  services: FederationDependencies & Pick<Services, "federation">,
  { agent_id, public_key }: AgentKey,
  caller: Caller,
): Promise<boolean> {
  const { federation, storage } = services;
  if (federation === undefined || !mayBeForeignAgentId(agent_id, caller)) return false;
  if ((await findAgent(storage.read, agent_id)) !== undefined) return false;
  await queryOwner({ ...services, federation }, agent_id);
  return federation.remoteAgents.isClaimedUnderAnotherKey(agent_id, public_key);
}

async function queryOwner(services: FederationServices, agentId: string): Promise<void> {
  const { federation, identity, runtime } = services;
  await federation.remoteAgents.search(JSON.stringify(["owner", agentId]), async () => {
    if (!federation.remoteAgents.tryOwnerQuery()) return () => [];
    const queryId = newId(runtime);
    const own = { self: identity.relayId, queryId, maxHops: 0 };
    return queryPeers(services, createQuery({ q: agentId }, own), {
      isIncluded: ({ admitted }) => admitted === 1,
      maxQueries: limits.federationOwnerQueries,
    });
  });
}
