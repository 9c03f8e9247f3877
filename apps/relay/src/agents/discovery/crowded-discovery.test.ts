import type { TestAgent } from "@agent/testkit";
import type { DiscoveryEntry } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask } from "../../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let payer: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  payer = await createBuyer(t, 1_000);
});
afterEach(() => t.close());

/** Creates workers with the same description, in the order of their ids. */
async function createLookAlikes(count: number): Promise<TestAgent[]> {
  const workers = await Promise.all(Array.from({ length: count }, () => t.createWorker(1)));
  return workers.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

/** Completes a task at the worker's price. */
async function work(worker: TestAgent): Promise<void> {
  const task = await submitAcceptedTask(t, payer, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
}

async function setPrice(worker: TestAgent, unit_cost: number): Promise<void> {
  await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, {
    capabilities: ["summarise"],
    pricing: [{ capability: "summarise", unit_cost }],
    description: "a worker",
  });
}

async function page(query: string): Promise<{ ids: string[]; cursor: string | null }> {
  const { status, body } = await t.asOperator("GET", `/api/v1/agents/discover?${query}`);
  expect(status).toBe(200);
  const agents = body["agents"] as DiscoveryEntry[];
  return {
    ids: agents.map(({ agent_id }) => agent_id),
    cursor: body["next_cursor"] as string | null,
  };
}

async function walk(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let from = ""; ;) {
    const { ids, cursor } = await page(`${query}${from}`);
    expect(ids).not.toEqual([]);
    pages.push(ids);
    if (cursor === null) return pages;
    from = `&cursor=${cursor}`;
  }
}

const idsOf = (agents: readonly TestAgent[]) => agents.map(({ agentId }) => agentId);

describe("Discovery among many look-alikes", () => {
  test("E20: agents whose tasks left fees are listed before 60 free identities with the same texts", async () => {
    const workers = await createLookAlikes(61);
    const honest = workers.at(-1)!;
    await work(honest);
    for (const query of ["", "capability=summarise", "q=worker", "q=worker&capability=summarise"]) {
      expect((await page(query)).ids[0]).toBe(honest.agentId);
    }
  });

  test("E20: free identities that match more words of a text are listed after an agent with fees", async () => {
    const [honest] = await createLookAlikes(1);
    await work(honest!);
    const stuffed = await t.createAgent();
    await t.as(stuffed, "POST", "/api/v1/agents/register", {
      agent_id: stuffed.agentId,
      endpoint_url: "http://127.0.0.1:1/",
      capabilities: ["does", "work"],
      metadata: { name: "does work", description: "does work" },
    });
    const expected = idsOf([honest!, stuffed]);
    expect((await page("q=does%20work")).ids).toEqual(expected);
  });

  test.each(["capability=summarise&limit=5", "q=worker&limit=5", "limit=5"])(
    "E20: pages of %s show each agent once, ordered by fees, with newcomers on each page",
    async (query) => {
      const workers = await createLookAlikes(17);
      const paid = workers.slice(8);
      const [dear] = paid.slice(-1);
      await setPrice(dear!, 100);
      for (const worker of paid) await work(worker);
      const [p, n] = [idsOf([dear!, ...paid.slice(0, -1)]), idsOf(workers.slice(0, 8))];
      expect(await walk(query)).toEqual([
        [...p.slice(0, 4), ...n.slice(0, 1)],
        [...p.slice(4, 8), ...n.slice(1, 2)],
        [...p.slice(8), ...n.slice(2, 6)],
        n.slice(6),
      ]);
    },
  );

  test("E20: pages of one agent show every agent in turn", async () => {
    const workers = await createLookAlikes(4);
    for (const worker of workers.slice(2)) await work(worker);
    const expected = idsOf([...workers.slice(2), ...workers.slice(0, 2)]).map((id) => [id]);
    for (const query of ["limit=1", "q=worker&limit=1"])
      expect(await walk(query)).toEqual(expected);
  });

  test("E20: an agent keeps its position in discovery when it registers or lists itself again", async () => {
    const [other, honest] = await createLookAlikes(2);
    await work(honest!);
    await setPrice(honest!, 2);
    expect((await page("capability=summarise")).ids).toEqual(idsOf([honest!, other!]));
  });

  test("E20: a cursor that a caller invented does not break a page", async () => {
    const workers = await createLookAlikes(3);
    await work(workers[0]!);
    for (const key of ["|", ".|.", "~|~", "///|///", "a", `50|/~/9/`, "|||"]) {
      const cursor = Buffer.from(key).toString("base64url");
      for (const query of ["limit=2", "q=worker&limit=2"]) {
        expect((await page(`${query}&cursor=${cursor}`)).ids.length).toBeLessThanOrEqual(2);
      }
    }
  });
});
