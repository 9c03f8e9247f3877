import type { TaskInput, TestAgent } from "@agent/testkit";
import type { Settlement, Task, Transaction, TrustRecord } from "@agent/wire";
import { expect } from "vitest";
import type { Reply, TestRelay } from "./test-relay.ts";

/** Creates an agent without an endpoint that charges `price` for its only capability, or a price for each. */
export async function createSeller(
  t: TestRelay,
  price: number | Record<string, number>,
): Promise<TestAgent> {
  const agent = await t.createAgent();
  await putListing(t, agent, price);
  return agent;
}

/** Creates an agent without a bound key that the operator registered and listed at a price of 1. */
export async function createKeylessSeller(t: TestRelay): Promise<TestAgent> {
  const agent = t.createUnknownAgent();
  const { agentId: agent_id } = agent;
  await t.asOperator("POST", "/api/v1/agents/register", {
    agent_id,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["count"],
  });
  const listed = await t.asOperator("POST", `/api/v1/agents/${agent_id}/listing`, {
    capabilities: ["count"],
    pricing: [{ capability: "count", unit_cost: 1 }],
  });
  expect(listed.status).toBe(200);
  return agent;
}

/** Replaces the agent's listing. */
export async function putListing(
  t: TestRelay,
  agent: TestAgent,
  price: number | Record<string, number>,
): Promise<void> {
  const prices = typeof price === "number" ? { summarise: price } : price;
  const listed = await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
    capabilities: Object.keys(prices),
    pricing: Object.entries(prices).map(([capability, unit_cost]) => ({
      capability,
      unit_cost,
      currency: "USD",
      per: "task",
    })),
    sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
    description: "sells work",
  });
  expect(listed.status).toBe(200);
}

/** Creates an agent with money. */
export async function createBuyer(t: TestRelay, amount: number): Promise<TestAgent> {
  const agent = await t.createAgent();
  await t.deposit(agent, amount);
  return agent;
}

export function submitTask(
  t: TestRelay,
  by: TestAgent,
  target: Pick<TestAgent, "agentId">,
  body: Record<string, unknown> = {},
): Promise<Reply> {
  return t.as(by, "POST", `/agent/${target.agentId}/task`, { prompt: "work", ...body });
}

/** An accepted task and its path. */
export interface Delegation extends TaskInput {
  readonly path: string;
}

/** Submits a task that must be accepted. */
export async function submitAcceptedTask(
  t: TestRelay,
  by: TestAgent,
  target: Pick<TestAgent, "agentId">,
  body: Record<string, unknown> = {},
): Promise<Delegation> {
  const answer = await submitTask(t, by, target, body);
  expect(answer).toMatchObject({ status: 201 });
  const task_id = answer.body["task_id"] as string;
  const prompt = (body["prompt"] ?? "work") as string;
  const path = `/agent/${target.agentId}/task/${task_id}`;
  return { task_id, prompt, submitted_at: t.clock.now(), path };
}

/** Counts the answers with each status. */
export function countStatuses(replies: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export async function getTaskAt(t: TestRelay, path: string): Promise<Task> {
  const { status, body } = await t.asOperator("GET", path);
  expect(status).toBe(200);
  return body["task"] as Task;
}

export async function getTaskStatus(t: TestRelay, { path }: Pick<Delegation, "path">) {
  return (await getTaskAt(t, path)).status;
}

/** The state that a refusal must not change. */
export interface AgentState {
  readonly balance: number;
  readonly pending_allocations: number;
  readonly transactions: Transaction[];
  readonly settlements: Settlement[];
  readonly trust: TrustRecord[];
}

export async function getAgentStates(
  t: TestRelay,
  agents: readonly TestAgent[],
): Promise<AgentState[]> {
  return Promise.all(
    agents.map(async ({ agentId }) => {
      const of = (what: string) => t.asOperator("GET", `/api/v1/agents/${agentId}/${what}`);
      const [account, settled, trusted] = await Promise.all(
        ["balance", "settlements", "trust"].map(of),
      );
      return {
        ...(account?.body as Omit<AgentState, "settlements" | "trust">),
        settlements: settled?.body["settlements"] as Settlement[],
        trust: trusted?.body["records"] as TrustRecord[],
      };
    }),
  );
}

/** Expects that no money was created or lost, and that every hold belongs to an open task. */
export async function expectConsistentBooks(
  t: TestRelay,
  totals: Record<string, number> = {},
): Promise<void> {
  const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
  expect(body).toMatchObject({ consistent: true, totals });
}
