import { isAgentIdOfKey } from "@agent/crypto";
import { listFormerKeys } from "./agent-succession.ts";
import { type KnownAgent, mergeEntries } from "./entries.ts";

/** One peer's claim about an agent, and whether this relay's operator admitted that peer. */
export interface AgentClaim {
  readonly agent: KnownAgent;
  readonly isAdmitted: boolean;
}

/** An agent as described by the claims of all peers. */
export type ClaimedAgent = KnownAgent & {
  /** Claims of the same id under other keys, one for each key. */
  readonly rivals: readonly KnownAgent[];
};

/** Further keys of an id beyond this number are left out. */
const MAX_RIVALS = 8;

/**
 * Returns whether the claim is about the peer's own agent. The peer may have learned of any other
 * agent from an unknown relay.
 */
export function isOwnClaim({ agent }: AgentClaim): boolean {
  return agent.source_relay === agent.via;
}

/**
 * Resolves all claims about one agent id; undefined without claims. The claim of an admitted peer about its
 * own agent takes precedence. Next, a version 8 id that proves the claimed key precedes one that does not,
 * and the later of two keys of one chain precedes the one it replaced. Claims of equal weight under
 * different keys are in conflict (`id_conflict`), and the order of `mergeEntries` selects the one to show.
 */
export function resolveClaims(claims: readonly AgentClaim[]): ClaimedAgent | undefined {
  const weights = claims.map(getClaimWeight);
  const highest = Math.max(...weights);
  const strongest = removeFormerKeys(claims.filter((_, index) => weights[index] === highest));
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
 * Returns the claim under the key that the caller names, or the preferred one if none is named.
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
 * Removes claims of a key that another claim proves to be replaced. Two chains that replace each
 * other's key decide nothing.
 */
function removeFormerKeys(claims: readonly AgentClaim[]): readonly AgentClaim[] {
  const former = new Set(claims.flatMap(({ agent }) => listFormerKeys(agent)));
  const current = claims.filter(({ agent }) => !former.has(agent.public_key));
  return current.length > 0 ? current : claims;
}
