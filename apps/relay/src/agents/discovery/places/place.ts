/** Agents without fees come from here on, and all others before. */
export const NEWCOMERS = "50";

/**
 * Returns the place of an agent in discovery, a text by which agents are sorted: by the fees that their
 * completed tasks paid to the relay, in powers of ten, highest first, then by id. Identities and
 * descriptions are free, but fees are not. Only the number of digits of the fees counts, because the place
 * is visible in the cursor.
 */
export function toPlace(agentId: string, feesKept: number): string {
  const digits = feesKept > 0 ? String(feesKept).length : 0;
  return `${Number(NEWCOMERS) - digits}-${agentId}`;
}

/** A newcomer is shown on every page that has at least this number of places. */
const PLACES_PER_NEWCOMER = 5;

/**
 * Returns how many newcomers a page may show, so that agents with fees do not hide them: a fifth of its
 * places, or all that agents with fees leave.
 */
export function countNewcomerPlaces(limit: number, withFees: number): number {
  return Math.max(Math.floor(limit / PLACES_PER_NEWCOMER), limit - withFees);
}
