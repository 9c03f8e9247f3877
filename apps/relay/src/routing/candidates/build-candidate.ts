import { fromMicro, quoteTask, ZERO, type Micro } from "@agent/budget";
import { computeRecordLatency, type Candidate } from "@agent/routing-semiring";
import { BLOCKED, getLevelForReader, scoreOfLevel } from "../../trust/levels.ts";
import type { AgentFacts, TaskHistory } from "./agent-facts.ts";

/** The knowledge that one asker has of an agent by its own tasks. */
export interface AskerRecord extends TaskHistory {
  readonly trust_level: number;
}

/** The asker's view of an agent. */
export interface CandidateView {
  /** Undefined for an asker without a record of the agent. */
  readonly record: AskerRecord | undefined;
  readonly required: readonly string[];
  readonly online: boolean;
}

/**
 * Builds the ranking input for an agent; undefined for an agent that does not sell the task. The asker's
 * own experience counts first, otherwise that of paying delegators; free tasks do not count for strangers.
 */
export function buildCandidate(
  facts: AgentFacts,
  { record, required, online }: CandidateView,
): Candidate | undefined {
  const { promisedLatencyMs } = facts;
  const price = quoteAgent(facts, required);
  if (price === null) return undefined;
  const history = record !== undefined && record.counted > 0 ? record : facts.paid;
  const trust_score = scoreOfLevel(
    getLevelForReader({
      own_level: record?.trust_level ?? null,
      payers_level: facts.payersLevel,
    }),
  );
  const { successes, counted, avg_latency_ms: measuredMs } = history;
  return {
    agent_id: facts.agent_id,
    capabilities: facts.capabilities,
    unit_cost: fromMicro(price),
    trust_score,
    blocked: record?.trust_level === BLOCKED,
    successes,
    counted,
    avg_latency_ms: computeRecordLatency({
      successes,
      counted,
      trustScore: trust_score,
      measuredMs,
      promisedMs: promisedLatencyMs,
    }),
    listing_latency_ms: promisedLatencyMs,
    online,
    availability_guarantee: facts.promisedAvailability,
  };
}

/** Returns an agent's price for the capabilities; null if it does not sell them. */
export function quoteAgent(
  { listing }: Pick<AgentFacts, "listing">,
  required: readonly string[],
): Micro | null {
  return listing === undefined ? ZERO : quoteTask({ ...listing, required });
}
