import type { CredentialSubject } from "@agent/credentials";
import type { ListingBody } from "@agent/wire";
import { availabilityOf, isOnline } from "../agents/online.ts";
import { profileOf } from "../agents/profile-store.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentHistoryRow } from "../storage/tables/trust.ts";
import { scoreOf, UNKNOWN } from "../trust/levels.ts";
import { findHistory } from "../trust/store.ts";
import { didOfKey } from "./agent-dids.ts";

type Reputation = CredentialSubject<"AgentReputationCredential">;

/**
 * What the relay knows of an agent, from the tasks that it saw end; undefined while none succeeded, or
 * where no key is bound to the agent that could be spoken of.
 */
export async function reputationOf(
  read: Reader,
  { runtime, connections }: Pick<Services, "runtime" | "connections">,
  agentId: string,
): Promise<Reputation | undefined> {
  const profile = await profileOf(read, { reader: "", agent_id: agentId });
  const history = await findHistory(read, agentId);
  if (profile === undefined || profile.public_key === null || history === undefined) {
    return undefined;
  }
  const measured = measuredOf(history);
  if (measured.successes === 0) return undefined;
  const now = runtime.now();
  const listing =
    profile.listing === null ? undefined : (JSON.parse(profile.listing) as ListingBody);
  return {
    id: didOfKey(profile.public_key),
    success_rate: measured.successes / measured.counted,
    avg_latency_ms: measured.latencyMs / measured.successes,
    task_count: paidOf(history).counted + freeOf(history).counted,
    trust_score: scoreOf(profile.payers_level ?? UNKNOWN),
    availability: availabilityOf(isOnline(profile, connections, now), listing),
    sample_size: measured.counted,
    measured_at: now,
  };
}

interface Figures {
  readonly successes: number;
  readonly counted: number;
  /** Of the successes together. */
  readonly latencyMs: number;
}

/** Free tasks among friends say little, so they are looked at only while nobody has paid. */
function measuredOf(history: AgentHistoryRow): Figures {
  const [paid, free] = [paidOf(history), freeOf(history)];
  if (paid.successes > 0) return paid;
  return { ...free, counted: free.counted + paid.counted };
}

function paidOf(history: AgentHistoryRow): Figures {
  return {
    successes: history.successful_tasks,
    counted: history.successful_tasks + history.failed_tasks,
    latencyMs: history.latency_total_ms,
  };
}

function freeOf(history: AgentHistoryRow): Figures {
  return {
    successes: history.free_successful_tasks,
    counted: history.free_successful_tasks + history.free_failed_tasks,
    latencyMs: history.free_latency_total_ms,
  };
}
