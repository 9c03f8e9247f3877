import { deriveAgentId, signSuccession } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import {
  addPeer,
  startNetwork,
  waitForTask,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";

type Network = Awaited<ReturnType<typeof startNetwork>>;

let network: Network;
let [home, middle, far] = [] as unknown as [TestSite, TestSite, TestSite];
/** An agent of the far relay that has an id of version 8 and its second key. */
let worker: TestAgent;
let firstKey: string;
beforeEach(async () => {
  network = await startNetwork(["home", "middle", "far"], []);
  [home, middle, far] = network.sites as [TestSite, TestSite, TestSite];
  // No operator has admitted the other relay, so only a proof counts.
  await addPeer(far, middle);
  await addPeer(middle, home);
  const stranger = far.createUnknownAgent();
  firstKey = stranger.publicKey;
  worker = await offer(far, { ...stranger, agentId: deriveAgentId(firstKey) });
});
afterEach(() => network.close());

async function bootstrap(
  site: TestSite,
  agent: TestAgent,
  succession?: object,
): Promise<TestAgent> {
  const { agentId: agent_id, publicKey: public_key } = agent;
  const { status, body } = await site.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id, public_key, ...(succession && { succession }) },
  });
  if (status > 201) throw new Error(JSON.stringify(body));
  return { ...agent, deviceId: String(body["device_id"]) };
}

/** Creates an agent that peers may see. */
async function offer(site: TestSite, agent: TestAgent, succession?: object): Promise<TestAgent> {
  const known = await bootstrap(site, agent, succession);
  const path = `/api/v1/agents/${agent.agentId}/listing`;
  await site.as(known, "POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["summarise"],
  });
  const listed = await site.as(known, "POST", path, { capabilities: ["summarise"] });
  expect(listed.status).toBe(200);
  return known;
}

function successor(agent: TestAgent) {
  const { secretKey, publicKey } = home.createUnknownAgent();
  const succession = signSuccession({
    agent_id: agent.agentId,
    oldSecretKey: agent.secretKey,
    newSecretKey: secretKey,
    timestamp: network.clock.now(),
  });
  return { next: { ...agent, secretKey, publicKey }, succession };
}

/** Changes the worker's key at the far relay. */
async function rotate(): Promise<void> {
  const { next, succession } = successor(worker);
  await network.clock.advance(1_000);
  worker = await bootstrap(far, next, succession);
}

const found = async (at: TestSite) => {
  const { body } = await at.asOperator("GET", "/api/v1/agents/discover?capability=summarise");
  return (body["agents"] as { agent_id: string; public_key: string; id_conflict?: true }[]).filter(
    ({ agent_id }) => agent_id === worker.agentId,
  );
};

test("D1: an id of version 8 proves its later key, even two hops away, to relays that only discover it", async () => {
  await rotate();
  await rotate();
  expect(await found(middle)).toMatchObject([{ public_key: worker.publicKey }]);
  expect(await found(home)).toMatchObject([{ public_key: worker.publicKey }]);
  const boss = await home.createAgent();
  const { body } = await home.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" });
  const task = await waitForTask(far, worker, String(body["task_id"]));
  expect(await completeTask(far, worker, task)).toMatchObject({ status: 200 });
});

test("D1: the former key of an id is not listed beside the key that its succession proves", async () => {
  const before = worker;
  await rotate();
  await network.clock.advance(1_000);
  // A third relay still presents the leaked first key as the agent's current key.
  await offer(middle, { ...before, publicKey: firstKey });
  await addPeer(far, home);
  // A late answer of the far relay is used for the next query.
  await expect.poll(() => found(home)).toMatchObject([{ public_key: worker.publicKey }]);
  const [entry, ...more] = await found(home);
  expect(more).toEqual([]);
  expect(entry).not.toHaveProperty("id_conflict");
});

test("D1: a version 8 id is rejected under a key that its succession does not prove", async () => {
  const squatter = home.createUnknownAgent();
  const stolen = successor(worker).succession;
  const countDiscovered = async (succession: unknown, features?: string[]) => {
    const claim = {
      agent_id: worker.agentId,
      public_key: squatter.publicKey,
      capabilities: ["summarise"],
      ...(succession !== undefined && { succession }),
    };
    const listening = await startListeningPeer(({ path }) =>
      path.endsWith("/discover") ? { agents: [claim] } : undefined,
    );
    const site = await startNetwork(["alone"], []);
    const [alone] = site.sites as [TestSite];
    await createFakePeer(alone, listening.url).completeHandshake(features && { features });
    const path = "/api/v1/agents/discover?capability=summarise";
    const { body } = await alone.asOperator("GET", path);
    await Promise.all([site.close(), listening.close()]);
    return (body["agents"] as unknown[]).length;
  };
  expect(await countDiscovered([stolen], ["agent_succession"])).toBe(0);
  expect(await countDiscovered([stolen])).toBe(0);
  expect(await countDiscovered(undefined, ["agent_succession"])).toBe(0);
  // A peer of the previous version sends no successions and works as before.
  expect(await countDiscovered(undefined)).toBe(1);
});

test("D1: a succession is sent as it was signed to peers of this version, and not to older ones", async () => {
  await rotate();
  const entryFor = async (features: string[]) => {
    const asking = await createFakePeer(far).completeHandshake({ features });
    const reply = await asking.post("/federation/v1/discover", {
      timestamp: far.clock.now(),
      to: far.relayId,
      capability: "summarise",
      hop_count: 0,
      max_hops: 0,
      visited: [],
      query_id: far.createUnknownAgent().agentId,
      origin_relay: asking.relayId,
    });
    expect(reply.status).toBe(200);
    return (reply.body["agents"] as Record<string, unknown>[])[0] ?? {};
  };
  const history = await far.request("GET", `/api/v1/agents/${worker.agentId}/succession`);
  expect(await entryFor(["agent_succession"])).toMatchObject({
    public_key: worker.publicKey,
    succession: history.body["chain"],
  });
  expect(await entryFor([])).not.toHaveProperty("succession");
});
