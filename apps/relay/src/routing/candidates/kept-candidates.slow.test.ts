import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replayRanking, type RoutingRecord } from "@agent/routing-semiring";
import type { TestAgent } from "@agent/testkit";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { serveTestRelay, type Device, type ServedRelay } from "../../../test/devices.ts";
import { openEditedRelay } from "../../../test/stored/edited-relay.ts";
import { editStored, openStoredRows, type StoredRows } from "../../../test/engine/stored.ts";
import { createBuyer, putListing, submitAcceptedTask, submitTask } from "../../../test/market.ts";
import {
  buildMarketAnswer,
  loadCandidates,
  rankFromRows,
} from "../../../test/straightforward-ranking.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { createReceipt, startTestRelay } from "../../../test/test-relay.ts";
import { createConnections } from "../../realtime/connections.ts";
import { migrations } from "../../storage/migrations/index.ts";
import type { Reader } from "../../storage/storage.ts";
import { AGENT_COLUMNS } from "../../storage/writing/agent-changes.ts";
import { loadTrustGraph } from "../trust-graph.ts";
import { createKeptCandidates } from "./kept-candidates.ts";

const capabilities = ["summarise", "paint"] as const;
/** A port on which nothing listens. */
const DEAD_ENDPOINT = "http://127.0.0.1:1/mcp";

const seller = fc.nat(3);
const buyer = fc.nat(1);
const price = fc.constantFrom(0, 0.5, 1, 2);
const change = fc.oneof(
  fc.record({
    kind: fc.constant("list" as const),
    seller,
    prices: fc.dictionary(fc.constantFrom(...capabilities), price, { minKeys: 1 }),
  }),
  fc.record({
    kind: fc.constant("register" as const),
    seller,
    names: fc.subarray([...capabilities], { minLength: 1 }),
  }),
  fc.record({ kind: fc.constant("deregister" as const), seller }),
  fc.record({ kind: fc.constant("beat" as const), seller }),
  fc.record({ kind: fc.constant("connect" as const), seller }),
  fc.record({ kind: fc.constant("disconnect" as const), seller }),
  fc.record({ kind: fc.constant("call" as const), seller }),
  fc.record({ kind: fc.constant("revoke" as const), seller }),
  fc.record({
    kind: fc.constant("work" as const),
    seller,
    buyer,
    status: fc.constantFrom("completed" as const, "completed" as const, "failed" as const),
  }),
  fc.record({ kind: fc.constant("block" as const), seller, buyer }),
  fc.record({ kind: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 7 }) }),
);
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

interface World {
  readonly t: ServedRelay;
  readonly sellers: readonly TestAgent[];
  readonly buyers: readonly TestAgent[];
  readonly devices: Map<string, Device>;
  readonly revoked: Set<string>;
}

async function apply({ t, sellers, buyers, devices, revoked }: World, step: Change): Promise<void> {
  if (step.kind === "wait") return t.advance(step.minutes * 60_000);
  const agent = sellers[step.seller]!;
  const path = `/api/v1/agents/${agent.agentId}`;
  if (step.kind === "list") {
    const pricing = Object.entries(step.prices).map(([capability, unit_cost]) => ({
      capability,
      unit_cost,
    }));
    const listing = {
      capabilities: Object.keys(step.prices),
      pricing,
      sla: { max_latency_ms: 900 },
    };
    await t.asOperator("POST", `${path}/listing`, listing);
  } else if (step.kind === "register") {
    const body = { agent_id: agent.agentId, endpoint_url: DEAD_ENDPOINT, capabilities: step.names };
    await t.asOperator("POST", "/api/v1/agents/register", body);
  } else if (step.kind === "deregister") {
    await t.asOperator("DELETE", path);
  } else if (step.kind === "beat") {
    await t.as(agent, "POST", "/api/v1/agents/heartbeat", { agent_id: agent.agentId });
  } else if (step.kind === "revoke") {
    revoked.add(agent.agentId);
    await t.asOperator("POST", `${path}/revoke`, { reason: "test" });
  } else if (step.kind === "connect") {
    if (devices.has(agent.agentId) || revoked.has(agent.agentId)) return;
    const device = await t.connectDevice(agent);
    devices.set(agent.agentId, device);
    void device.closed.then(() => devices.delete(agent.agentId));
  } else if (step.kind === "disconnect") {
    devices.get(agent.agentId)?.socket.close();
    await devices.get(agent.agentId)?.closed;
  } else if (step.kind === "call") {
    await submitTask(t, buyers[0]!, agent);
  } else if (step.kind === "block") {
    const by = buyers[step.buyer]!;
    const to = `/api/v1/agents/${by.agentId}/trust/${agent.agentId}`;
    await t.as(by, "PUT", to, { trust_level: "blocked" });
  } else if (step.kind === "work") {
    const answer = await submitTask(t, buyers[step.buyer]!, agent);
    if (answer.status !== 201) return;
    const task_id = answer.body["task_id"] as string;
    const task = { task_id, prompt: "work", submitted_at: t.clock.now() };
    await t.as(
      agent,
      "POST",
      `/agent/${agent.agentId}/task/${task_id}/result`,
      createReceipt(agent, task, { status: step.status }),
    );
  }
}

/** Compares what each reader sees with what the rows state. Work in the background may change both. */
async function expectMarketFromRows(
  { t, buyers, devices }: World,
  stored: StoredRows,
): Promise<void> {
  for (const asker of [undefined, ...buyers]) {
    for (const capability of capabilities) {
      const path = `/api/v1/market/candidates?capability=${capability}`;
      await vi.waitFor(async () => {
        const { body } = await (asker ? t.as(asker, "GET", path) : t.asOperator("GET", path));
        const query = {
          askerId: asker?.agentId ?? "",
          required: [capability],
          now: t.clock.now(),
          isConnected: (id: string) => devices.has(id),
        };
        expect(body["candidates"]).toEqual(await buildMarketAnswer(stored, query));
      });
    }
  }
}

async function openWorld(AGENT_DB_PATH: string): Promise<World> {
  const t = await serveTestRelay({ AGENT_DB_PATH, AGENT_PRIVATE_ENDPOINTS: "allow" });
  const buyers = [await createBuyer(t, 1_000), await createBuyer(t, 1_000)];
  const sellers = [await t.createAgent(), await t.createAgent(), await t.createAgent()];
  sellers.push(await t.createAgent());
  return { t, buyers, sellers, devices: new Map(), revoked: new Set() };
}

/** Compares a scored submission with the ranking of candidates that were built from the rows. */
async function expectSubmissionFromRows(
  { t, buyers, sellers, devices }: World,
  stored: StoredRows,
  required: readonly string[],
): Promise<void> {
  const [buyer] = buyers;
  await vi.waitFor(async () => {
    const query = {
      askerId: buyer!.agentId,
      required,
      now: t.clock.now(),
      isConnected: (id: string) => devices.has(id),
    };
    const excluded = [sellers[0]!.agentId];
    const loaded = await loadCandidates(stored, query);
    const candidates = loaded.filter(({ agent_id }) => !excluded.includes(agent_id));
    const { choice } = await rankFromRows(stored, query, candidates);
    const body = { required_capabilities: required, exclude_agents: excluded };
    const answer = await submitTask(t, buyer!, buyer!, body);
    expect(answer.body["routing_choice"] ?? null).toEqual(choice);
    const path = `/agent/${buyer!.agentId}/task/${answer.body["task_id"] as string}`;
    const routing = await t.as(buyer!, "GET", `${path}/routing`);
    // The record of a choice names all candidates; without one, the task was refused or waits for its target.
    const expected = choice === null ? undefined : candidates;
    expect(routing.body["candidates"]).toEqual(expected);
    await t.as(buyer!, "POST", `${path}/cancel`);
  });
}

/** A heartbeat after a long silence makes an agent available again. */
const returnAfterSilence: Change[] = [
  { kind: "register", seller: 0, names: ["paint"] },
  { kind: "wait", minutes: 7 },
  { kind: "beat", seller: 0 },
];

/** The block of one payer lowers the level that two payers hold. */
const levelOfPayersFalls: Change[] = [
  { kind: "list", seller: 0, prices: { paint: 1 } },
  { kind: "work", seller: 0, buyer: 0, status: "completed" },
  { kind: "work", seller: 0, buyer: 1, status: "completed" },
  { kind: "block", seller: 0, buyer: 0 },
];

test("G2: kept candidates equal those computed from the rows after any changes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 25 }), async (changes) => {
      const folder = mkdtempSync(join(tmpdir(), "relay-kept-"));
      const path = join(folder, "relay.db");
      const world = await openWorld(path);
      const stored = await openStoredRows(path);
      try {
        for (const step of changes) {
          await apply(world, step);
          await expectMarketFromRows(world, stored);
        }
        await expectSubmissionFromRows(world, stored, ["summarise"]);
        await expectSubmissionFromRows(world, stored, ["paint", "summarise"]);
      } finally {
        await stored.close();
        await world.t.close();
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: 12, examples: [[levelOfPayersFalls], [returnAfterSilence]] },
  );
}, 120_000);

const COUNT = 10_000;
const openCrowdedRelay = () =>
  openEditedRelay(
    ({ agentId }) => `
      with recursive n(value) as (select 0 union all select value + 1 from n where value < ${COUNT - 1})
      insert into agents (agent_id, capabilities, metadata, registered, created_at, last_seen_at)
        select '10000000-0000-7000-8000-' || substr(cast(1000000000000 + value as text), 2), '["x"]', '{}', 1, 0, 0 from n;
      insert into listings (agent_id, listing_id, body, updated_at)
        select agent_id, agent_id, '{"capabilities":["x"],"pricing":[{"capability":"x","unit_cost":0}],"sla":{}}', 0
        from agents where agent_id <> '${agentId}';
      insert into agent_capabilities (capability, agent_id) select 'x', agent_id from listings;`,
  );

test("G2: a market query and a submission among 10,000 agents parse no rows and do not block other work", async () => {
  const relay = await openCrowdedRelay();
  const { t, agent } = relay;
  const requests = {
    query: () => t.as(agent, "GET", "/api/v1/market/candidates?capability=x&limit=10"),
    submission: () => submitTask(t, agent, agent, { required_capabilities: ["x"] }),
  };
  for (const request of Object.values(requests)) {
    await request();
    const parse = vi.spyOn(JSON, "parse");
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect((await request()).status).toBeLessThan(300);
    isOver = true;
    expect(parse.mock.calls.length).toBeLessThan(100);
    expect(turns).toBeGreaterThan(5);
    parse.mockRestore();
  }
  await relay.close();
});

test("G3: a decision among 10,000 candidates stores the best ones, the counts and a hash of all", async () => {
  const relay = await openCrowdedRelay();
  const { t, agent } = relay;
  const answer = await submitTask(t, agent, agent, { required_capabilities: ["x"] });
  const path = `/agent/${agent.agentId}/task/${answer.body["task_id"] as string}/routing`;
  const { status, body } = await t.as(agent, "GET", path);
  expect(status).toBe(200);
  const record = body as unknown as RoutingRecord;
  const [first] = record.candidates;
  const ids = Array.from(
    { length: COUNT },
    (_, i) => first!.agent_id.slice(0, -5) + String(i).padStart(5, "0"),
  );
  // All are equal, so the ids decide which are the best.
  expect(record.candidates.map(({ agent_id }) => agent_id)).toEqual(ids.slice(0, 100));
  const digests = ids.map((agent_id) =>
    createHash("sha256")
      .update(JSON.stringify({ ...first, agent_id }))
      .digest(),
  );
  const inputs_hash = createHash("sha256").update(Buffer.concat(digests)).digest("hex");
  expect(record).toMatchObject({
    algorithm: "agent-routing@5",
    excerpt: { candidates: COUNT, eligible: COUNT, mean_cost: 0, inputs_hash },
  });
  expect(record.choice).toEqual(answer.body["routing_choice"]);
  expect(replayRanking(record)).toEqual(record.choice);
  expect(record.choice?.alternatives_considered).toBe(COUNT - 1);
  await relay.close();
});

test("G2: each table from which candidates are computed publishes its changes", async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.code);
  const { storage } = opened;
  const read = new Set<string>();
  const note = (text: string) => {
    for (const [, table] of text.matchAll(/\b(?:from|join)\s+"?(\w+)"?/gi)) read.add(table!);
  };
  const reader: Reader = {
    get: (query, params) => (note(query.text), storage.read.get(query, params)),
    all: (query, params) => (note(query.text), storage.read.all(query, params)),
  };
  const candidates = createKeptCandidates({
    storage: { read: reader, onAgentsChanged: (listener) => storage.onAgentsChanged(listener) },
    runtime: { now: () => 0 },
    connections: createConnections(),
    trustGraph: await loadTrustGraph(storage.read),
  });
  candidates.invalidate(["agent"]);
  await candidates.rankInTurn({ askerId: "", required: ["x"] }, function* rankNone() {});
  expect([...read].toSorted()).toEqual(Object.keys(AGENT_COLUMNS).toSorted());
  await storage.close();
});

test("G2: a submission is charged the price that is stored, even if another process has just changed it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-price-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  const t = await startTestRelay({ AGENT_DB_PATH });
  const [payer, worker] = [await createBuyer(t, 10), await t.createAgent()];
  await putListing(t, worker, 1);
  const required = { required_capabilities: ["summarise"] };
  await submitAcceptedTask(t, payer, worker, required);
  const rise = `update listings set body = replace(body, '"unit_cost":1', '"unit_cost":3')`;
  await editStored(AGENT_DB_PATH, rise);
  const dear = await submitTask(t, payer, worker, { ...required, max_budget: 2 });
  expect(dear).toMatchObject({ status: 402, body: { code: "budget.max_exceeded" } });
  const answer = await submitTask(t, payer, worker, required);
  expect(answer).toMatchObject({ status: 201, body: { estimated_cost: 3 } });
  await t.close();
  rmSync(folder, { recursive: true });
});

test("G2: a failed read loses no change of an agent", async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.code);
  const { storage } = opened;
  let isBroken = true;
  const read: string[] = [];
  const reader: Reader = {
    async get(query, params) {
      if (isBroken) throw new Error("busy");
      read.push((params as { agent_id?: string }).agent_id ?? "");
      return storage.read.get(query, params);
    },
    all: (query, params) => storage.read.all(query, params),
  };
  const candidates = createKeptCandidates({
    storage: { read: reader, onAgentsChanged: () => {} },
    runtime: { now: () => 0 },
    connections: createConnections(),
    trustGraph: await loadTrustGraph(storage.read),
  });
  candidates.invalidate(["one", "two"]);
  const rank = () => candidates.rankInTurn({ askerId: "", required: ["x"] }, function* none() {});
  await expect(rank()).rejects.toThrow("busy");
  isBroken = false;
  await rank();
  expect(read).toEqual(["one", "two"]);
  await storage.close();
});
