import { hexToDidKey } from "@agent/crypto";
import type { CredentialSubject } from "@agent/credentials";
import { selectFigures, type TaskFigures } from "@agent/routing-semiring";
import { getAvailability, isOnline } from "../agents/discovery/online.ts";
import { findProfile } from "../agents/discovery/profile-store.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentHistoryRow } from "../storage/tables/trust.ts";
import { scoreOfLevel, UNKNOWN } from "../trust/levels.ts";
import { findHistory } from "../trust/store.ts";
import { parseListing } from "../agents/discovery/parse-listing.ts";
import { getFeesKeptBand } from "./fees-kept-band.ts";

type Reputation = CredentialSubject<"AgentReputationCredential">;

/**
 * Builds an agent's reputation from the tasks that ended at this relay; undefined while none of those that it
 * states succeeded, or when no key is bound to the agent.
 */
export async function getReputation(
  read: Reader,
  { runtime, connections }: Pick<Services, "runtime" | "connections">,
  agentId: string,
): Promise<Reputation | undefined> {
  const profile = await findProfile(read, { reader: "", agent_id: agentId });
  const history = await findHistory(read, agentId);
  if (profile === undefined || profile.public_key === null || history === undefined) {
    return undefined;
  }
  const [paid, free] = [toPaidFigures(history), toFreeFigures(history)];
  const measured = selectFigures({ paid, free });
  if (measured.successes === 0) return undefined;
  const now = runtime.now();
  const listing = parseListing(profile.listing);
  return {
    id: hexToDidKey(profile.public_key),
    success_rate: measured.successes / measured.counted,
    avg_latency_ms: measured.latencyMs / measured.successes,
    task_count: paid.counted + free.counted,
    trust_score: scoreOfLevel(profile.payers_level ?? UNKNOWN),
    availability: getAvailability(isOnline(profile, connections, now), listing),
    sample_size: measured.counted,
    measured_at: now,
    fees_kept_band: getFeesKeptBand(history.fees_kept),
  };
}

function toPaidFigures(history: AgentHistoryRow): TaskFigures {
  return {
    successes: history.successful_tasks,
    counted: history.successful_tasks + history.failed_tasks,
    latencyMs: history.latency_total_ms,
  };
}

function toFreeFigures(history: AgentHistoryRow): TaskFigures {
  return {
    successes: history.free_successful_tasks,
    counted: history.free_successful_tasks + history.free_failed_tasks,
    latencyMs: history.free_latency_total_ms,
  };
}
