import { isAgentIdOfKey, isKeyDerivedId, verifyAgentIdKey } from "@agent/crypto";
import type { RemoteAgent } from "../messages/discovery.ts";

/** How much of agents' successions an answer to a query carries. */
export const SUCCESSION_LIMITS = {
  /** Records of one entry. */
  records: 16,
  /** Records of all entries of an answer together; each costs its receiver two signatures. */
  recordsPerAnswer: 64,
  /** Characters of one record as JSON. */
  characters: 2_048,
} as const;

type Claim = Pick<RemoteAgent, "agent_id" | "public_key" | "succession">;
type Records = readonly Readonly<Record<string, unknown>>[];

/**
 * What an entry proves of its agent's key. Only an id of version 8 can prove anything: `proven` by the
 * key itself or by the chain of records that leads to it, `refuted` by a chain that does not, `unproven`
 * if there is a later key and no chain.
 */
export type KeyProof = "none" | "proven" | "unproven" | "refuted";

export interface ProvenEntry {
  readonly proof: KeyProof;
  /** The records that prove the key, oldest first. */
  readonly chain: Records;
}

/** Judges an entry while `budget` more records may be verified; a chain beyond it proves nothing. */
export function judgeKeyProof(claim: Claim, budget: number): ProvenEntry {
  const { agent_id, public_key } = claim;
  if (public_key === null || !isKeyDerivedId(agent_id)) return { proof: "none", chain: [] };
  if (isAgentIdOfKey(agent_id, public_key)) return { proof: "proven", chain: [] };
  const chain = recordsOf(claim);
  if (chain.length === 0) return { proof: "unproven", chain };
  if (!isBounded(chain)) return { proof: "refuted", chain };
  if (chain.length > budget) return { proof: "unproven", chain: [] };
  const proof = verifyAgentIdKey(agent_id, public_key, chain).ok ? "proven" : "refuted";
  return { proof, chain };
}

/**
 * The entries of an answer with as many chains as it may carry, in order; none for a peer that reads
 * none. An entry whose chain does not fit goes without: it is found by a query for its id.
 */
export function boundSuccessions<Entry extends RemoteAgent>(
  entries: readonly Entry[],
  { isRead }: { readonly isRead: boolean },
): Entry[] {
  let budget = isRead ? SUCCESSION_LIMITS.recordsPerAnswer : 0;
  return entries.map((entry) => {
    const { succession: _, ...rest } = entry;
    const chain = recordsOf(entry);
    const fits = chain.length > 0 && chain.length <= budget && isBounded(chain);
    if (fits) budget -= chain.length;
    return (fits ? { ...rest, succession: chain } : rest) as Entry;
  });
}

/** The keys that an agent has left by the chain of its entry, which is verified. */
export function formerKeys({ succession }: Pick<RemoteAgent, "succession">): readonly unknown[] {
  return recordsOf({ succession }).map((record) => record["old_public_key"]);
}

function recordsOf({ succession }: Pick<RemoteAgent, "succession">): Records {
  if (succession === undefined) return [];
  return Array.isArray(succession) ? succession : [succession];
}

function isBounded(chain: Records): boolean {
  const { records, characters } = SUCCESSION_LIMITS;
  return (
    chain.length <= records && chain.every((record) => JSON.stringify(record).length <= characters)
  );
}
