import { fromMicro, quoteTask, ZERO, type Micro } from "@agent/budget";
import type { Candidate } from "@agent/routing-semiring";
import { scoreOfLevel, UNKNOWN } from "../../trust/levels.ts";
import type { AgentFacts } from "./agent-facts.ts";
import { weighExperience, type AskerRecord } from "./weigh-experience.ts";

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
  return {
    agent_id: facts.agent_id,
    capabilities: facts.capabilities,
    unit_cost: fromMicro(price),
    ...weighExperience(record, {
      trust: scoreOfLevel(facts.payersLevel ?? UNKNOWN),
      history: facts.paid,
      promisedLatencyMs,
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
