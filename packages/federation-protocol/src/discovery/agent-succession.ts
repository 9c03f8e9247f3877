import { isAgentIdOfKey, isKeyDerivedId, verifyAgentIdKey } from "@agent/crypto";
import { limits } from "@agent/wire";
import type { RemoteAgent } from "../messages/discovery.ts";

/** Limits of the key successions in an answer to a query. */
export const SUCCESSION_LIMITS = {
  /** Records in one entry. */
  records: 16,
  /** Records in all entries of an answer together; each costs the receiver two signature checks. */
  recordsPerAnswer: 64,
} as const;

type Claim = Pick<RemoteAgent, "agent_id" | "public_key" | "succession">;
type Records = readonly Readonly<Record<string, unknown>>[];

/**
 * The degree to which an entry proves its agent's key. Only a version 8 id can prove a key: `proven` if the
 * id is derived from the key itself or a chain of records leads to it, `refuted` if the chain does not lead
 * to it, `unproven` if the key is a later one and there is no chain.
 */
export type KeyProof = "none" | "proven" | "unproven" | "refuted";

export interface ProvenEntry {
  readonly proof: KeyProof;
  /** The records that prove the key, oldest first. */
  readonly chain: Records;
}

/**
 * Checks the key of an entry. At most `budget` records are verified; a longer chain proves nothing.
 */
export function checkKeyProof(claim: Claim, budget: number): ProvenEntry {
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
 * Returns the entries of an answer with as many chains as it may carry, in order, or without chains for a
 * peer that does not read them. An entry whose chain does not fit keeps its other members; the chain can be
 * found by a query for its id.
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

/** Returns the keys that an agent has replaced, according to the verified chain of its entry. */
export function listFormerKeys({
  succession,
}: Pick<RemoteAgent, "succession">): readonly unknown[] {
  return recordsOf({ succession }).map((record) => record["old_public_key"]);
}

function recordsOf({ succession }: Pick<RemoteAgent, "succession">): Records {
  if (succession === undefined) return [];
  return Array.isArray(succession) ? succession : [succession];
}

function isBounded(chain: Records): boolean {
  const { successionCharacters: maxCharacters } = limits;
  return (
    chain.length <= SUCCESSION_LIMITS.records &&
    chain.every((record) => JSON.stringify(record).length <= maxCharacters)
  );
}
