import { isAgentIdOfKey } from "@agent/crypto";
import { formerKeys } from "./agent-succession.ts";
import { type KnownAgent, mergeEntries } from "./entries.ts";

/** What one peer says of an agent, and whether the operator of this relay admitted that peer. */
export interface AgentClaim {
  readonly agent: KnownAgent;
  readonly isAdmitted: boolean;
}

/** An agent as its peers claim it together. */
export type ClaimedAgent = KnownAgent & {
  /** Claims of the same id under other keys, one for each key. */
  readonly rivals: readonly KnownAgent[];
};

/** How many keys an id may have beside the standing one before further claims are left out. */
const MAX_RIVALS = 8;

/** Whether a peer speaks for an agent of its own; it may have heard of any other one from a stranger. */
export function isOwnClaim({ agent }: AgentClaim): boolean {
  return agent.source_relay === agent.via;
}

/**
 * Judges all claims of one agent id. A claim by an admitted peer of its own agent stands against every
 * other one; then an id of version 8 that proves the claimed key stands against one that does not, and the
 * later of two keys of one chain against the one that was left.
 * Claims of equal weight under different keys are in conflict (`id_conflict`): which of them is shown
 * follows the order of `mergeEntries`. Undefined without claims.
 */
export function resolveClaims(claims: readonly AgentClaim[]): ClaimedAgent | undefined {
  const weights = claims.map(getClaimWeight);
  const highest = Math.max(...weights);
  const strongest = withoutFormerKeys(claims.filter((_, index) => weights[index] === highest));
  const [selected] = mergeEntries([strongest.map(({ agent }) => agent)]);
  if (selected === undefined) return undefined;
  const others = claims
    .map(({ agent }) => agent)
    .filter((agent) => agent.public_key !== null && agent.public_key !== selected.public_key);
  const byKey = Map.groupBy(others, (agent) => agent.public_key);
  const rivals = [...byKey.values()].flatMap((list) => mergeEntries([list])).slice(0, MAX_RIVALS);
  const hasRival = strongest.some(({ agent }) => agent.public_key !== selected.public_key);
  const inConflict = hasRival || selected.id_conflict === true;
  const { id_conflict: _, ...agent } = selected;
  return { ...agent, ...(inConflict && { id_conflict: true }), rivals };
}

/**
 * The claim of an agent under the key that the asker names, or the standing one if none is named.
 * Undefined if the id is in conflict and no key is named, or if no peer claims it under that key.
 */
export function findClaimWithKey(
  agent: ClaimedAgent,
  publicKey: string | undefined,
): KnownAgent | undefined {
  if (publicKey === undefined) return agent.id_conflict === true ? undefined : agent;
  return [agent, ...agent.rivals].find((claim) => claim.public_key === publicKey);
}

function getClaimWeight(claim: AgentClaim): number {
  const { agent_id, public_key, succession } = claim.agent;
  if (public_key === null) return 0;
  const byAdmitted = claim.isAdmitted && isOwnClaim(claim) ? 2 : 0;
  // An entry keeps only a chain that proves its key.
  const isProven = isAgentIdOfKey(agent_id, public_key) || succession !== undefined;
  return 1 + byAdmitted + (isProven ? 1 : 0);
}

/**
 * A key that another claim proves to have been left does not stand beside that claim. Two chains that
 * leave each other's key settle nothing.
 */
function withoutFormerKeys(claims: readonly AgentClaim[]): readonly AgentClaim[] {
  const former = new Set(claims.flatMap(({ agent }) => formerKeys(agent)));
  const current = claims.filter(({ agent }) => !former.has(agent.public_key));
  return current.length > 0 ? current : claims;
}
