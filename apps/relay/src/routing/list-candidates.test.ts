import type { TestAgent } from "@agent/testkit";
import type { MarketCandidate } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, putListing, createSeller } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const path = (query: string) => `/api/v1/market/candidates?${query}`;

async function candidates(query = "", reader?: TestAgent): Promise<MarketCandidate[]> {
  const to = path(`capability=summarise&${query}`);
  const answer = await (reader ? t.as(reader, "GET", to) : t.asOperator("GET", to));
  expect(answer.status).toBe(200);
  return answer.body["candidates"] as MarketCandidate[];
}

const ids = (entries: readonly MarketCandidate[]) => entries.map(({ agent_id }) => agent_id);

async function work(boss: TestAgent, worker: TestAgent, status: "completed" | "failed") {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, { status }));
}

describe("the market", () => {
  test("the market shows a candidate's scores, listing and availability", async () => {
    const worker = await t.createWorker(2);
    const [candidate] = await candidates("max_budget=4");
    expect(candidate).toEqual({
      agent_id: worker.agentId,
      composite_score: expect.any(Number) as unknown,
      sub_scores: {
        trust: 0.1,
        success_rate: 0.5,
        latency: 1 - 1_000 / 6_000,
        price_efficiency: 0.5,
        capability_match: 1,
        availability: 1,
      },
      selected: true,
      online: true,
      affordable: true,
      capabilities: ["summarise"],
      pricing: [{ capability: "summarise", unit_cost: 2, currency: "USD", per: "task" }],
      sla: { max_latency_ms: 1_000, availability_guarantee: 0.9 },
      description: "a worker",
    });
    const { sub_scores, composite_score } = candidate!;
    const { trust, success_rate, latency, price_efficiency } = sub_scores;
    const weighted = 0.25 * (trust + success_rate) + 0.15 * (latency + price_efficiency) + 0.2;
    expect(composite_score).toBeCloseTo(weighted, 12);
  });

  test("the market ranks exactly the agents with the capability, and selects one of them", async () => {
    const workers = [await createSeller(t, 3), await createSeller(t, 1), await createSeller(t, 2)];
    await createSeller(t, { paint: 1 });
    const ranked = await candidates();
    expect(ids(ranked)).toEqual([1, 2, 0].map((i) => workers[i]?.agentId));
    expect(ranked.map(({ selected }) => selected)).toEqual([true, false, false]);
    const scores = ranked.map(({ composite_score }) => composite_score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  test("the market orders agents with equal scores by their id", async () => {
    const workers = [await createSeller(t, 1), await createSeller(t, 1), await createSeller(t, 1)];
    expect(ids(await candidates())).toEqual(workers.map(({ agentId }) => agentId).toSorted());
  });

  test("the market shows agents above the budget without selecting them", async () => {
    const [dear, cheap] = [await t.createWorker(5), await createSeller(t, 1)];
    const rows = await candidates("max_budget=2");
    const row = (of: TestAgent) => rows.find(({ agent_id }) => agent_id === of.agentId);
    expect(row(dear)).toMatchObject({ affordable: false, selected: false });
    expect(row(cheap)).toMatchObject({ affordable: true, selected: true });
    expect((await candidates("max_budget=0.5")).every(({ selected }) => !selected)).toBe(true);
  });

  test("the market never selects the asking agent", async () => {
    const [asking, other] = [await createSeller(t, 1), await createSeller(t, 9)];
    const rows = await candidates("", asking);
    expect(rows.find(({ selected }) => selected)?.agent_id).toBe(other.agentId);
  });

  test("the market counts the asking agent's own experience, and for strangers only paid tasks", async () => {
    const [boss, stranger] = [await createBuyer(t, 100), await t.createAgent()];
    const [good, bad] = [await createSeller(t, 1), await createSeller(t, 1)];
    for (let i = 0; i < 3; i += 1) {
      await work(boss, good, "completed");
      await work(boss, bad, "failed");
    }
    for (const reader of [boss, stranger]) {
      const rows = await candidates("", reader);
      expect(ids(rows)).toEqual([good.agentId, bad.agentId]);
      expect(rows.map(({ sub_scores }) => sub_scores.success_rate)).toEqual([1, 0]);
    }
    const seen = async (reader: TestAgent) =>
      (await candidates("", reader)).map(({ sub_scores }) => sub_scores.trust);
    expect(await seen(boss)).toEqual([0.3, 0.1]);
    expect(await seen(stranger)).toEqual([0.1, 0.1]);
  });

  test("CR8 the market scores prices of every size, free agents and guarantees from 0 to 1", async () => {
    for (const price of [0, 0.000001, 1, 1e9]) await createSeller(t, price);
    const odd = await t.createAgent();
    await putListing(t, odd, {});
    await t.as(odd, "POST", `/api/v1/agents/${odd.agentId}/listing`, {
      capabilities: ["summarise"],
      sla: { max_latency_ms: 1e308, availability_guarantee: 0 },
    });
    for (const query of ["", "max_budget=0", "max_budget=0.000001", "max_budget=1000000000"]) {
      const rows = await candidates(query);
      expect(rows).toHaveLength(5);
      const figures = rows.flatMap((row) => [
        row.composite_score,
        ...Object.values(row.sub_scores),
      ]);
      expect(figures.every((figure) => figure >= 0 && figure <= 1)).toBe(true);
    }
  });

  test("the market lists the requested number of the best candidates", async () => {
    for (const price of [3, 1, 2]) await createSeller(t, price);
    const all = await candidates();
    expect(await candidates("limit=2")).toEqual(all.slice(0, 2));
  });

  test.each([
    "",
    "capability=",
    `capability=${"x".repeat(257)}`,
    "capability=a&limit=0",
    "capability=a&limit=201",
    "capability=a&limit=-1",
    "capability=a&max_budget=-1",
    "capability=a&max_budget=NaN",
    "capability=a&max_budget=1e3",
    "capability=a&max_budget=1000000001",
  ])("CR11 the market refuses the query %j", async (query) => {
    expect(await t.asOperator("GET", path(query))).toMatchObject({
      status: 400,
      body: { code: "request.invalid" },
    });
  });

  test("the market returns no candidates for a capability without agents", async () => {
    await createSeller(t, 1);
    for (const capability of ["paint", "SUMMARISE", "__proto__", "%"]) {
      const query = `capability=${encodeURIComponent(capability)}`;
      expect((await t.asOperator("GET", path(query))).body).toEqual({ candidates: [] });
    }
  });
});
