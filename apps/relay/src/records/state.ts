import { refuse, type Answer, type Goal, type Operations, type QueryOf } from "@agent/wire";
import { getFreshness } from "../agents/discovery/freshness.ts";
import { isOnline } from "../agents/discovery/online.ts";
import { findAgent } from "../agents/store.ts";
import { createPageAnswer, textAscending } from "../http/paging/page.ts";
import { ledgerStatusByTaskStatus } from "../ledger/load-goal-records.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findAgentCounts, listGoalRows, type GoalRow } from "./state-store.ts";

/** Summarizes an agent's state from the relay's own records. */
export async function getState(
  { storage, runtime, connections }: Pick<Services, "storage" | "runtime" | "connections">,
  agentId: string,
): Promise<Answer<Operations["getState"]>> {
  const [agent, counts] = await Promise.all([
    findAgent(storage.read, agentId),
    findAgentCounts(storage.read, agentId),
  ]);
  if (agent === undefined || counts === undefined) return refuse("agent.not_found");
  const now = runtime.now();
  return {
    status: 200,
    body: {
      agent_id: agentId,
      registered: agent.registered === 1,
      revoked: agent.revoked_at !== null,
      online: isOnline(agent, connections, now),
      freshness: getFreshness(agent.last_seen_at, now),
      last_seen_at: agent.last_seen_at,
      ...counts,
    },
  };
}

/** Lists goals by id. */
export async function listGoals(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listGoals"]>,
): Promise<Answer<Operations["listGoals"]>> {
  return createPageAnswer(query, {
    // The id of a goal may have any form.
    order: { ...textAscending, form: /^[^]+$/ },
    find: (after, limit) => listGoalRows(read, { agent_id, after, limit }),
    keyOf: ({ goal_id }) => goal_id,
    show: (rows) => ({ goals: rows.map(toGoal) }),
  });
}

/** A signed ledger takes precedence over the agent's task, and the task over its plan. */
function toGoal({ goal_id, ledger_status, plan_status, plans, task_status }: GoalRow): Goal {
  const statusOfTask = task_status === null ? undefined : ledgerStatusByTaskStatus[task_status];
  return {
    goal_id,
    status: ledger_status ?? statusOfTask ?? plan_status ?? "active",
    signed: ledger_status !== null,
    plans,
    task_status,
  };
}
