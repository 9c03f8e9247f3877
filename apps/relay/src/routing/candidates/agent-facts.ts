import { parseListing } from "../../agents/discovery/parse-listing.ts";
import type { CapabilityPrice } from "@agent/budget";
import { toCapabilityPrices, type OfferedAcceptance } from "@agent/wire";
import { mergeCapabilities } from "../../agents/discovery/listing.ts";
import { getOnlineUntil } from "../../agents/discovery/online.ts";
import type { ProfileRow } from "../../agents/discovery/profile-store.ts";

/** The counted tasks of an agent, and their mean latency in ms; null if never measured. */
export interface TaskHistory {
  readonly successes: number;
  readonly counted: number;
  readonly avg_latency_ms: number | null;
}

/** The facts about an agent that are the same for every asker, parsed once from its rows. */
export interface AgentFacts {
  readonly agent_id: string;
  /** The registered and the listed capabilities. */
  readonly capabilities: readonly string[];
  /** Undefined without a listing. */
  readonly listing:
    | { readonly prices: readonly CapabilityPrice[]; readonly listed: readonly string[] }
    | undefined;
  /** The inspection before payment that it offers; undefined if it offers none. */
  readonly acceptance: OfferedAcceptance | undefined;
  readonly promisedLatencyMs: number | null;
  readonly promisedAvailability: number | null;
  /** The trust level that counts for an asker without own experience; null if there is none. */
  readonly payersLevel: number | null;
  /** Over the paid tasks of all payers. */
  readonly paid: TaskHistory;
  /** The time until which the agent is online without a socket. */
  readonly onlineUntil: number;
}

export function parseAgentFacts(row: ProfileRow): AgentFacts {
  const listing = parseListing(row.listing);
  const successes = row.paid_successes ?? 0;
  return {
    agent_id: row.agent_id,
    capabilities: mergeCapabilities(row, listing),
    listing: listing && {
      prices: toCapabilityPrices(listing.pricing),
      listed: listing.capabilities,
    },
    acceptance: listing?.acceptance,
    promisedLatencyMs: listing?.sla?.max_latency_ms ?? null,
    promisedAvailability: listing?.sla?.availability_guarantee ?? null,
    payersLevel: row.payers_level,
    paid: {
      successes,
      counted: successes + (row.paid_failures ?? 0),
      avg_latency_ms: successes > 0 ? (row.paid_latency_ms ?? 0) / successes : null,
    },
    onlineUntil: getOnlineUntil(row),
  };
}
