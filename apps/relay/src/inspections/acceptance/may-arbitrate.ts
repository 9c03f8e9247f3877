import { isArbiterSuspended } from "@agent/budget";
import { findListing } from "../../agents/discovery/listing-store.ts";
import { parseListing } from "../../agents/discovery/parse-listing.ts";
import { findKeyProof, listOtherBindings } from "../../agents/keys/key-proof-store.ts";
import { listSigningKeys } from "../../agents/keys/key-store.ts";
import { findAgent } from "../../agents/store.ts";
import type { Reader } from "../../storage/storage.ts";
import { areOneAgent, listAgentsCountedAsOne } from "../../trust/backing/are-one-agent.ts";
import { getLeastFees } from "../../trust/backing/get-least-fees.ts";
import { listArbiterCases } from "../reading/count-store.ts";

interface ArbiterCheck {
  readonly parties: readonly string[];
  readonly now: number;
  /**
   * Whether a key counts only if it was proven under an id other than the arbiter's. Otherwise a party
   * could claim any public key without proof, and so exclude the arbiter that it named.
   */
  readonly ignoresClaims: boolean;
}

/**
 * Returns whether an agent may decide between parties: it accepts cases, is not revoked, shares no key with
 * any of them, and did not let its latest cases pass.
 */
export async function mayArbitrate(
  read: Reader,
  arbiterId: string,
  { parties, now, ignoresClaims }: ArbiterCheck,
): Promise<boolean> {
  const agent = await findAgent(read, arbiterId);
  if (agent === undefined || agent.revoked_at !== null) return false;
  const listing = parseListing((await findListing(read, arbiterId))?.body);
  if (listing?.arbitrates !== true) return false;
  // Parties who belong together must lose as much to suspend an arbiter as a payer pays to be heard at all.
  const leastCost = await getLeastFees(read);
  const cases = await listArbiterCases(read, arbiterId, leastCost);
  if (isArbiterSuspended(cases, { now, leastCost })) return false;
  for (const party of new Set(parties)) {
    if (await haveCommonKey(read, { arbiterId, party, ignoresClaims })) return false;
  }
  return true;
}

/**
 * Lists an agent and all agents that share a key with it or count as one with it; it must not decide about
 * any of them.
 */
export async function listRelatedAgents(read: Reader, agentId: string): Promise<string[]> {
  const keys = await listSigningKeys(read, agentId);
  const others = await Promise.all(
    keys.map(({ public_key }) => listOtherBindings(read, { agent_id: agentId, public_key })),
  );
  return [...(await listAgentsCountedAsOne(read, agentId)), ...others.flat()];
}

interface KeyOwners extends Pick<ArbiterCheck, "ignoresClaims"> {
  readonly arbiterId: string;
  readonly party: string;
}

async function haveCommonKey(
  read: Reader,
  { arbiterId, party, ignoresClaims }: KeyOwners,
): Promise<boolean> {
  if (await areOneAgent(read, arbiterId, party)) return true;
  const keys = new Set(
    (await listSigningKeys(read, arbiterId)).map(({ public_key }) => public_key),
  );
  for (const { public_key } of await listSigningKeys(read, party)) {
    if (!keys.has(public_key)) continue;
    const prover = ignoresClaims ? (await findKeyProof(read, public_key))?.agent_id : party;
    if (prover !== undefined && prover !== arbiterId) return true;
  }
  return false;
}
