import { isKeyId } from "@agent/crypto";
import { beginQuery } from "@agent/federation-protocol";
import { findAgent } from "../agents/store.ts";
import { newId } from "../runtime.ts";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { provenKey } from "./agent-key-store.ts";
import { askPeers } from "./ask-peers.ts";
import type { FederatingParts, FederationServices } from "./federation.ts";

interface Claim {
  readonly agent_id: string;
  readonly public_key: string;
}

/** Whether others may know an id under another key: not if it proves itself, or the operator binds it. */
export function mayBelongElsewhere(agentId: string, caller: Caller): boolean {
  return caller.kind !== "master" && !isKeyId(agentId);
}

/**
 * Whether an id is that of another relay's agent that has worked for this one under another key: who
 * takes it here would take its standing with it.
 */
export async function belongsElsewhere(
  read: Reader,
  { agent_id, public_key }: Claim,
): Promise<boolean> {
  const proven = await provenKey(read, agent_id);
  return proven !== undefined && proven !== public_key;
}

/**
 * Whether a peer that the operator admitted tells of an id that is new here under another key. Each
 * such peer is asked for its own agents, once, and for no longer than discovery waits; a stranger's word
 * would let anybody block every new agent.
 */
export async function isClaimedElsewhere(
  services: FederatingParts & Pick<Services, "federation">,
  { agent_id, public_key }: Claim,
  caller: Caller,
): Promise<boolean> {
  const { federation, storage } = services;
  if (federation === undefined || !mayBelongElsewhere(agent_id, caller)) return false;
  if ((await findAgent(storage.read, agent_id)) !== undefined) return false;
  await askForOwner({ ...services, federation }, agent_id);
  return federation.remote.isClaimedUnderAnotherKey(agent_id, public_key);
}

async function askForOwner(services: FederationServices, agentId: string): Promise<void> {
  const { federation, identity, runtime } = services;
  await federation.remote.search(JSON.stringify(["owner", agentId]), async () => {
    if (!federation.remote.mayAskForOwner()) return () => [];
    const queryId = newId(runtime);
    const own = { self: identity.relayId, queryId, maxHops: 0 };
    return askPeers(services, beginQuery({ q: agentId }, own), ({ admitted }) => admitted === 1);
  });
}
