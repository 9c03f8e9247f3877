import { refuse, type Answer, type Goal, type Operations, type QueryOf } from "@agent/wire";
import { freshnessOf } from "../agents/freshness.ts";
import { isOnline } from "../agents/online.ts";
import { findAgent } from "../agents/store.ts";
import { answerPage, textUp } from "../http/page.ts";
import { ledgerStatusOf } from "../ledger/goal-records.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { countsOf, goalsOf, type GoalRow } from "./state-store.ts";

/** How an agent stands, from the relay's own records. */
export async function getState(
  { storage, runtime, connections }: Pick<Services, "storage" | "runtime" | "connections">,
  agentId: string,
): Promise<Answer<Operations["getState"]>> {
  const [agent, counts] = await Promise.all([
    findAgent(storage.read, agentId),
    countsOf(storage.read, agentId),
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
      freshness: freshnessOf(agent.last_seen_at, now),
      last_seen_at: agent.last_seen_at,
      ...counts,
    },
  };
}

/** By goal id. */
export async function listGoals(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listGoals"]>,
): Promise<Answer<Operations["listGoals"]>> {
  return answerPage(query, {
    // A goal's id is free in form.
    order: { ...textUp, form: /^[^]+$/ },
    find: (after, limit) => goalsOf(read, { agent_id, after, limit }),
    keyOf: ({ goal_id }) => goal_id,
    show: (rows) => ({ goals: rows.map(goalOf) }),
  });
}

/** What the agent signed counts before its task, and its task before its plan. */
function goalOf({ goal_id, ledger_status, plan_status, plans, task_status }: GoalRow): Goal {
  const told = task_status === null ? undefined : ledgerStatusOf[task_status];
  return {
    goal_id,
    status: ledger_status ?? told ?? plan_status ?? "active",
    signed: ledger_status !== null,
    plans,
    task_status,
  };
}
