import { describe, expect, test } from "vitest";
import type { DelegatorContext, WorkOrder } from "../delegator-answer.ts";
import { planOrder } from "./plan-order.ts";

const offer = (agent_id: string, cost: number | null, capabilities = ["sum"]) => ({
  agent_id,
  cost,
  capabilities,
});
const offers = [
  offer("me", 0),
  offer("dear", 2.000001),
  offer("fair", 2),
  offer("unpriced", null),
  offer("other", 1, ["draw"]),
  offer("dearer", 3),
];
const listed = { ok: true, body: { public_key: "ab".repeat(32) } };
const refusal = (status: number) => ({ ok: false, status, code: "some.code", message: "no" });

function plan(order: Partial<WorkOrder>, { found = offers, known = listed as object } = {}) {
  const client = {
    getAgent: async () => known,
    discover: async () => ({ ok: true, body: { agents: found } }),
  };
  const context = { client, ownId: "me" } as unknown as DelegatorContext;
  const given = { prompt: "p", max_budget: 2, ...order };
  return planOrder(context, given, new AbortController().signal);
}

describe("the plan of an order", () => {
  test("a named agent gets the task under its listed key, and no other agent does", async () => {
    expect(await plan({ agent_id: "worker" })).toEqual({
      ok: true,
      plan: { agentId: "worker", publicKey: "ab".repeat(32), excludeAgents: [] },
    });
  });

  test.each([
    ["whom the relay does not list", refusal(404)],
    ["whose key the relay does not know", { ok: true, body: { public_key: null } }],
  ])("a named agent %s is asked without a key", async (_, known) => {
    expect(await plan({ agent_id: "worker" }, { known })).toEqual({
      ok: true,
      plan: { agentId: "worker", excludeAgents: [] },
    });
  });

  test("the first agent within the budget is asked, and dearer ones and the buyer itself are excluded", async () => {
    expect(await plan({ required_capabilities: ["sum"] })).toEqual({
      ok: true,
      plan: { agentId: "fair", excludeAgents: ["me", "dear", "dearer"] },
    });
  });

  test("an agent without a price counts as free", async () => {
    expect(await plan({ required_capabilities: ["sum"], max_budget: 0 })).toMatchObject({
      plan: { agentId: "unpriced", excludeAgents: ["me", "dear", "fair", "dearer"] },
    });
  });

  test("at most a thousand agents are excluded, the buyer itself first", async () => {
    const found = [...Array.from({ length: 1_100 }, (_, at) => offer(`dear ${at}`, 9)), ...offers];
    const planned = await plan({ required_capabilities: ["sum"] }, { found });
    const excluded = planned.ok ? planned.plan.excludeAgents : [];
    expect(excluded).toHaveLength(1_000);
    expect(excluded[0]).toBe("me");
  });

  const dear = [offer("dear", 4), offer("less dear", 3)];
  test.each<[string, Partial<WorkOrder>, Parameters<typeof plan>[1], string, RegExp]>([
    ["for the buyer itself", { agent_id: "me" }, {}, "delegation.self", /itself/],
    ["for no agent", {}, {}, "request.invalid", /agent_id or required_capabilities/],
    [
      "for an agent that cannot be looked up",
      { agent_id: "x" },
      { known: refusal(503) },
      "some.code",
      /no/,
    ],
    [
      "below every price",
      { required_capabilities: ["sum"] },
      { found: dear },
      "budget.max_exceeded",
      /max_budget 2; the lowest price is 3 USD/,
    ],
    [
      "that no agent offers",
      { required_capabilities: ["fly"] },
      {},
      "task.no_candidate",
      /No other/,
    ],
  ])("an order %s is refused", async (_, order, world, code, message) => {
    expect(await plan(order, world)).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(message) as string,
    });
  });
});
