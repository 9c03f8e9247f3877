import type { TestAgent } from "@agent/testkit";
import type { DiscoveryEntry } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { submitAcceptedTask } from "../../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

async function register(metadata: Record<string, unknown>, capabilities: string[] = []) {
  const agent = await t.createAgent();
  const { agentId: agent_id } = agent;
  const body = { agent_id, endpoint_url: "http://127.0.0.1:1/", capabilities, metadata };
  await t.as(agent, "POST", "/api/v1/agents/register", body);
  return agent;
}

async function discover(query = "", reader?: TestAgent): Promise<DiscoveryEntry[]> {
  const path = `/api/v1/agents/discover?${query}`;
  const answer = await (reader ? t.as(reader, "GET", path) : t.asOperator("GET", path));
  expect(answer.status).toBe(200);
  return answer.body["agents"] as DiscoveryEntry[];
}

const ids = (entries: readonly { agent_id: string }[]) => entries.map(({ agent_id }) => agent_id);

/** Completes one paid task of `boss` at `worker`. */
async function completePaidTask(boss: TestAgent, worker: TestAgent): Promise<void> {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
}

describe("Discovery", () => {
  test("discovery shows the public members of an agent", async () => {
    const worker = await t.createWorker(2);
    expect(await discover()).toEqual([
      {
        agent_id: worker.agentId,
        public_key: worker.publicKey,
        did: worker.did,
        endpoint_url: "http://127.0.0.1:1/mcp",
        capabilities: ["summarise"],
        metadata: { name: "worker", description: "does work" },
        trust_level: "unknown",
        cost: 2,
        availability: 1,
        online: true,
        freshness: "awake",
        pricing: [{ capability: "summarise", unit_cost: 2, currency: "USD", per: "task" }],
        source_relay: t.relay.relayId,
        relay_name: "agent-relay",
        hop_distance: 0,
        key_proven: true,
      },
    ]);
    const { body } = await t.asOperator("GET", `/api/v1/agents/${worker.agentId}`);
    const { inspections, ...entry } = body;
    expect([entry]).toEqual(await discover());
    expect(inspections).toMatchObject({ as_arbiter: { decided: 0, passed: 0 } });
  });

  test("discovery shows an agent that has neither key nor listing, with the members that are known", async () => {
    const { agentId: agent_id } = t.createUnknownAgent();
    const body = { agent_id, endpoint_url: "http://127.0.0.1:1/", capabilities: ["a"] };
    await t.asOperator("POST", "/api/v1/agents/register", body);
    expect(await discover()).toMatchObject([
      { public_key: null, did: null, cost: null, pricing: [] },
    ]);
  });

  test("discovery lists no agent that has neither a registration nor a listing", async () => {
    await t.createAgent();
    expect(await discover()).toEqual([]);
  });

  test("B9: an agent with a listing but no registration is shown without an endpoint", async () => {
    const agent = await t.createAgent();
    const path = `/api/v1/agents/${agent.agentId}/listing`;
    const pricing = [{ capability: "paint", unit_cost: 2 }];
    await t.as(agent, "POST", path, { capabilities: ["paint"], pricing, description: "Walls" });
    for (const query of ["", "capability=paint", "q=walls"]) {
      expect(await discover(query)).toMatchObject([
        { agent_id: agent.agentId, endpoint_url: null, capabilities: ["paint"], cost: 2 },
      ]);
    }
    const { body } = await t.asOperator("GET", "/api/v1/market/candidates?capability=paint");
    expect(ids(body["candidates"] as DiscoveryEntry[])).toEqual([agent.agentId]);
  });

  test("B9: an agent with a listing is not shown after it was revoked or deregistered", async () => {
    const [revoked, gone] = [await t.createWorker(1), await t.createWorker(1)];
    await t.as(revoked, "POST", `/api/v1/agents/${revoked.agentId}/revoke`, {});
    await t.as(gone, "DELETE", `/api/v1/agents/${gone.agentId}`);
    expect(await discover()).toEqual([]);
  });

  test("discovery filters by the whole name of a registered or listed capability", async () => {
    const registered = await register({}, ["paint", "summarise"]);
    const listed = await t.createWorker(1, "paint");
    await register({}, ["painting", "PAINT", "pain"]);
    expect(ids(await discover("capability=paint")).toSorted()).toEqual(
      [registered.agentId, listed.agentId].toSorted(),
    );
    expect(await discover("capability=sculpt")).toEqual([]);
    expect(await discover("capability=%25")).toEqual([]);
  });

  test("discovery shows the price of the requested capability, or else the agent's highest price", async () => {
    const agent = await register({}, []);
    const pricing = [
      { capability: "a", unit_cost: 1 },
      { capability: "b", unit_cost: 3 },
    ];
    await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
      capabilities: ["a", "b", "c"],
      pricing,
    });
    const costs = await Promise.all(
      ["capability=a", "capability=b", "capability=c", ""].map(async (query) => {
        return (await discover(query)).map(({ cost }) => cost);
      }),
    );
    expect(costs).toEqual([[1], [3], [0], [3]]);
  });

  test.each([
    ["name", "Writer", "writer"],
    ["description", "writes Limericks", "LIMERICK"],
    ["description", "100% _sure_", "% _s"],
    ["description", "Ältestes Café", "Café"],
  ])("discovery searches the %s of agents", async (member, said, asked) => {
    const writer = await register({ [member]: said });
    await register({ [member]: "painter" });
    expect(ids(await discover(`q=${encodeURIComponent(asked)}`))).toEqual([writer.agentId]);
  });

  test("B10: discovery finds agents whose texts contain every word, in any order and case", async () => {
    const translator = await register({ description: "translates French legal texts" }, ["law"]);
    await register({ description: "translates German legal texts" });
    for (const text of ["french texts", "Texts FRENCH", "law french", " legal  french "]) {
      expect(ids(await discover(`q=${encodeURIComponent(text)}`))).toEqual([translator.agentId]);
    }
    expect(await discover("q=french%20german")).toEqual([]);
  });

  test("B10: discovery ignores the case of letters of every alphabet", async () => {
    const { agentId } = await register({ name: "ÉCOLE Ärzte" });
    expect(ids(await discover(`q=${encodeURIComponent("école ÄRZTE")}`))).toEqual([agentId]);
  });

  test("B10: discovery shows agents with more matches first, and each once over all pages", async () => {
    const one = [await register({ name: "poet" }), await register({ name: "poet" })];
    const two = await register({ name: "poet", description: "a Poet" });
    const three = await register({ name: "poet", description: "poet" }, ["poet"]);
    const equal = one.map(({ agentId }) => agentId).toSorted();
    const expected = [three.agentId, two.agentId, ...equal];
    for (const limit of [1, 2, 3, 4, 50]) {
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const query = `q=poet&limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const { body } = await t.asOperator("GET", `/api/v1/agents/discover?${query}`);
        seen.push(...ids(body["agents"] as DiscoveryEntry[]));
        cursor = body["next_cursor"] as string | null;
      }
      expect(seen).toEqual(expected);
    }
  });

  test("B10: discovery accepts a text of 16 words and refuses one of 17, naming the field", async () => {
    const words = Array.from({ length: 16 }, (_, index) => `w${index}`);
    const { agentId } = await register({ description: words.join(" ") });
    expect(ids(await discover(`q=${words.toReversed().join("+")}`))).toEqual([agentId]);
    const path = `/api/v1/agents/discover?q=${[...words, "other"].join("+")}`;
    expect(await t.asOperator("GET", path)).toMatchObject({
      status: 400,
      body: { issues: [{ path: "q", message: "must contain at most 16 words" }] },
    });
  });

  test("discovery searches capabilities and the listing's description, but not the names of JSON members", async () => {
    const painter = await t.createWorker(1, "paint-a-wall");
    const words = ["a-wall", "a worker", "does work"];
    for (const word of words) {
      expect(ids(await discover(`q=${encodeURIComponent(word)}`))).toEqual([painter.agentId]);
    }
    for (const member of ["pricing", "unit_cost", "description", "name"]) {
      expect(await discover(`q=${member}`)).toEqual([]);
    }
  });

  test("discovery lists all agents page by page, each once", async () => {
    const agents: string[] = [];
    for (let i = 0; i < 5; i += 1) agents.push((await register({}, ["a"])).agentId);
    const seen: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query = `limit=2&capability=a${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body } = await t.asOperator("GET", `/api/v1/agents/discover?${query}`);
      seen.push(...ids(body["agents"] as DiscoveryEntry[]));
      sizes.push((body["agents"] as unknown[]).length);
      cursor = body["next_cursor"] as string | null;
    }
    expect(seen).toEqual(agents.toSorted());
    expect(sizes).toEqual([2, 2, 1]);
  });

  test.each([
    "limit=0",
    "limit=201",
    "limit=-1",
    "limit=abc",
    "limit=1e9",
    "cursor=%00",
    "capability=",
  ])("CR11 discovery refuses a query with %s", async (query) => {
    expect(await t.asOperator("GET", `/api/v1/agents/discover?${query}`)).toMatchObject({
      status: 400,
      body: { code: "request.invalid" },
    });
  });
});

describe("Figures of an agent in discovery", () => {
  test("discovery rates freshness by the last heartbeat, and shows the promised availability if that is old", async () => {
    const worker = await t.createWorker(1);
    const seen = async () => {
      const [{ freshness, online, availability } = {}] = await discover();
      return { freshness, online, availability };
    };
    expect(await seen()).toEqual({ freshness: "awake", online: true, availability: 1 });
    await t.clock.advance(6 * 60_000);
    expect(await seen()).toEqual({ freshness: "recent", online: false, availability: 0.45 });
    await t.clock.advance(24 * 60 * 60_000);
    expect(await seen()).toEqual({ freshness: "cold", online: false, availability: 0.45 });
    await t.as(worker, "POST", "/api/v1/agents/heartbeat");
    expect(await seen()).toEqual({ freshness: "awake", online: true, availability: 1 });
  });

  test("discovery shows the reader's own trust in an agent, or else the level that at least two payers give it", async () => {
    const worker = await t.createWorker(1);
    const [one, two, reader] = [
      await t.createAgent(),
      await t.createAgent(),
      await t.createAgent(),
    ];
    for (const boss of [one, two]) await t.deposit(boss, 10);
    const levels = async () =>
      Promise.all(
        [one, two, reader].map(async (by) => (await discover("", by)).map((e) => e.trust_level)),
      );
    expect(await levels()).toEqual([["unknown"], ["unknown"], ["unknown"]]);
    await completePaidTask(one, worker);
    expect(await levels()).toEqual([["first_contact"], ["unknown"], ["unknown"]]);
    await completePaidTask(two, worker);
    expect(await levels()).toEqual([["first_contact"], ["first_contact"], ["first_contact"]]);
    for (let i = 0; i < 4; i += 1) await completePaidTask(one, worker);
    expect(await levels()).toEqual([["verified"], ["first_contact"], ["first_contact"]]);
  });

  test("CR6 free tasks among friends do not raise the trust that strangers see", async () => {
    const worker = await t.createWorker(0);
    const friends = [await t.createAgent(), await t.createAgent(), await t.createAgent()];
    for (const friend of friends)
      for (let i = 0; i < 5; i += 1) await completePaidTask(friend, worker);
    expect(await discover("", friends[0])).toMatchObject([{ trust_level: "verified" }]);
    expect(await discover("", await t.createAgent())).toMatchObject([{ trust_level: "unknown" }]);
  });
});
