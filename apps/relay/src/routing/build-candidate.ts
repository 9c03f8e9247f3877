import { computeRecordLatency, type Candidate } from "@agent/routing-semiring";
import { asMicro, fromMicro } from "@agent/budget";
import type { ListingBody } from "@agent/wire";
import { listCapabilities } from "../agents/discovery/listing.ts";
import { isOnline } from "../agents/discovery/online.ts";
import type { ProfileRow } from "../agents/discovery/profile-store.ts";
import type { Connections } from "../realtime/connections.ts";
import { BLOCKED, scoreOfLevel, UNKNOWN } from "../trust/levels.ts";
import { calculateTaskPrice } from "./price.ts";

/**
 * Builds the input of ranking for an agent; undefined for an agent that does not sell the task. The
 * reader's own experience counts first, else that of paying delegators; free tasks do not count for
 * strangers.
 */
export function buildCandidate(
  row: ProfileRow,
  required: readonly string[],
  connections: Pick<Connections, "isOnline">,
  now: number,
): Candidate | undefined {
  const listing = parseListing(row);
  const price = listing === undefined ? asMicro(0) : calculateTaskPrice(listing, required);
  if (price === null) return undefined;
  const own = (row.own_successes ?? 0) + (row.own_failures ?? 0);
  const paid = (row.paid_successes ?? 0) + (row.paid_failures ?? 0);
  const history =
    own > 0
      ? { successes: row.own_successes ?? 0, counted: own, avg_latency_ms: row.own_latency_ms }
      : {
          successes: row.paid_successes ?? 0,
          counted: paid,
          avg_latency_ms: row.paid_successes
            ? (row.paid_latency_ms ?? 0) / row.paid_successes
            : null,
        };
  const trust_score = scoreOfLevel(row.own_level ?? row.payers_level ?? UNKNOWN);
  const promisedMs = listing?.sla?.max_latency_ms ?? null;
  const { successes, counted, avg_latency_ms: measuredMs } = history;
  return {
    agent_id: row.agent_id,
    capabilities: listCapabilities(row, row.listing === null ? undefined : { body: row.listing }),
    unit_cost: fromMicro(price),
    trust_score,
    blocked: row.own_level === BLOCKED,
    successes,
    counted,
    avg_latency_ms: computeRecordLatency({
      successes,
      counted,
      trustScore: trust_score,
      measuredMs,
      promisedMs,
    }),
    listing_latency_ms: promisedMs,
    online: isOnline(row, connections, now),
    availability_guarantee: listing?.sla?.availability_guarantee ?? null,
  };
}

export function parseListing(row: Pick<ProfileRow, "listing">): ListingBody | undefined {
  return row.listing === null ? undefined : (JSON.parse(row.listing) as ListingBody);
}
