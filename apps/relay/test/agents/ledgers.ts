import { signLedger, type LedgerBody, type LedgerEvent, type SignedLedger } from "@agent/ledger";
import type { TestAgent } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

export type Outcome = "completed" | "failed";

const START_TIME = 1_767_330_894_000;

/** Builds a timeline in which each step begins and ends, or one that stops before its end. */
export function createTimeline(goalId: string, outcomes: readonly Outcome[]): LedgerEvent[] {
  const events: Pick<LedgerEvent, "type" | "payload">[] = [
    { type: "goal_started", payload: { goal_id: goalId } },
    ...outcomes.flatMap((outcome, ordinal) => [
      {
        type: "step_started" as const,
        payload: { step_id: `step-${ordinal}`, ordinal, description: "a step" },
      },
      outcome === "completed"
        ? { type: "step_completed" as const, payload: { tool_calls_made: 0 } }
        : { type: "step_failed" as const, payload: { error: "no luck" } },
    ]),
  ];
  return events.map((event, index) => ({ timestamp: START_TIME + index, ...event }) as LedgerEvent);
}

/** Builds a ledger of steps with the given outcomes; `change` is applied before the agent signs it. */
export function createLedger(
  agent: TestAgent,
  goalId: string,
  outcomes: readonly Outcome[] = ["completed", "failed"],
  change: Partial<LedgerBody> = {},
): SignedLedger {
  const body: LedgerBody = {
    agent_id: agent.agentId,
    goal_id: goalId,
    plan_id: "",
    started_at: START_TIME,
    completed_at: null,
    status: "active",
    timeline: createTimeline(goalId, outcomes),
    steps: outcomes.map((status, ordinal) => ({
      step_id: `step-${ordinal}`,
      ordinal,
      description: "a step",
      status,
      tools_used: [],
      tool_calls: 0,
    })),
    ...change,
  };
  return signLedger(body, agent.secretKey);
}

export const ledgersPath = ({ agentId }: TestAgent): string => `/agent/${agentId}/ledger`;

export const ledgerPath = (agent: TestAgent, goalId: string): string =>
  `${ledgersPath(agent)}/${encodeURIComponent(goalId)}`;

export const manifestPath = ({ agentId }: TestAgent, goalId: string): string =>
  `/api/v1/execution/${agentId}/${encodeURIComponent(goalId)}`;

/** Submits a signed ledger, or any other body, as the agent. */
export function storeLedger(t: TestRelay, agent: TestAgent, ledger: object): Promise<Reply> {
  return t.as(agent, "POST", ledgersPath(agent), ledger);
}
