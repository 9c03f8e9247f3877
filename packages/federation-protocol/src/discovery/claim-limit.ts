import { getTrustScore, type TrustLevel, type TrustThresholds } from "@agent/routing-semiring";
import type { RemoteAgent } from "../messages/discovery.ts";

/** The levels that a claim may count as. */
export type ClaimLimit = Extract<TrustLevel, "first_contact" | "verified" | "trusted">;

/**
 * Returns the highest level that a peer's claims about agents may count as, by the fees, in micro-units,
 * that this relay kept on tasks settled with the peer. A peer's claim has no second source, so its fees
 * must reach what two payers need together.
 */
export function getClaimLimit(fees: number, { verified, trusted }: TrustThresholds): ClaimLimit {
  if (fees >= 2 * trusted) return "trusted";
  return fees >= 2 * verified ? "verified" : "first_contact";
}

/** Returns the entry with its trust and its level lowered to the limit. */
export function limitClaim<Entry extends RemoteAgent & { readonly trust: number }>(
  entry: Entry,
  limit: ClaimLimit,
): Entry {
  const score = getTrustScore(limit);
  const isAbove = ABOVE[limit].some((level) => level === entry.trust_level);
  return {
    ...entry,
    ...(isAbove && { trust_level: limit }),
    trust: Math.min(entry.trust, score),
  };
}

const ABOVE: Record<ClaimLimit, readonly TrustLevel[]> = {
  first_contact: ["verified", "trusted"],
  verified: ["trusted"],
  trusted: [],
};
