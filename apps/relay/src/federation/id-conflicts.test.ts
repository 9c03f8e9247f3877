import { deriveAgentId } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addPeer, startNetwork, waitForTask, type TestSite } from "../../test/network/network.ts";
import type { Reply } from "../../test/test-relay.ts";

type Network = Awaited<ReturnType<typeof startNetwork>>;

let network: Network;
let [home, partner, squatting] = [] as unknown as [TestSite, TestSite, TestSite];
beforeEach(async () => {
  network = await startNetwork(["home", "partner", "squatting"], []);
  [home, partner, squatting] = network.sites as [TestSite, TestSite, TestSite];
  // The squatter's relay started the peering, so the operator of home never named it.
  await addPeer(squatting, home);
});
afterEach(() => network.close());

const bootstrap = (site: TestSite, { agentId, publicKey }: TestAgent): Promise<Reply> =>
  site.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agentId, public_key: publicKey },
  });

/** Creates a visible agent that the operator of a relay bound to this id and key. */
async function offer(
  site: TestSite,
  agent: TestAgent,
  capability = "summarise",
): Promise<TestAgent> {
  const { agentId: agent_id, publicKey: public_key } = agent;
  const path = "/api/v1/agents/bootstrap";
  const { status, body } = await site.asOperator("POST", path, { agent_id, public_key });
  if (status > 201) throw new Error(JSON.stringify(body));
  const known = { ...agent, deviceId: String(body["device_id"]) };
  await site.as(known, "POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: [capability],
  });
  const listed = await site.as(known, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
    capabilities: [capability],
  });
  expect(listed.status).toBe(200);
  return known;
}

const underAnotherKey = (agent: TestAgent): TestAgent => ({
  ...home.createUnknownAgent(),
  agentId: agent.agentId,
});

const entriesOf = async (agent: TestAgent, capability = "summarise") => {
  const { body } = await home.asOperator("GET", `/api/v1/agents/discover?capability=${capability}`);
  const agents = body["agents"] as { agent_id: string; public_key: string; id_conflict?: true }[];
  return agents.filter(({ agent_id }) => agent_id === agent.agentId);
};

const submit = (boss: TestAgent, agentId: string, more: object = {}) =>
  home.as(boss, "POST", `/agent/${agentId}/task`, { prompt: "work", ...more });

const conflict = { status: 409, body: { code: "task.id_conflict" } };

test("A4: a peer that was not admitted cannot block a new agent by a claim to its id", async () => {
  const agent = home.createUnknownAgent();
  await offer(squatting, underAnotherKey(agent));
  expect(await entriesOf(agent)).toHaveLength(1);
  expect(await bootstrap(home, agent)).toMatchObject({ status: 201 });
});

test("A4: a peer that was not admitted can neither rename an agent of this relay nor take its tasks", async () => {
  const agent = await offer(home, home.createUnknownAgent());
  await offer(squatting, underAnotherKey(agent));
  expect(await entriesOf(agent)).toMatchObject([{ public_key: agent.publicKey }]);
  expect((await entriesOf(agent))[0]).not.toHaveProperty("id_conflict");
  const boss = await home.createAgent();
  expect(await submit(boss, agent.agentId)).toMatchObject({ status: 201 });
  expect(await waitForTask(home, agent)).toMatchObject({ agent_id: agent.agentId });
});

test("D1: a first binding of an id to another key than an admitted peer claims is answered with 409", async () => {
  await addPeer(home, partner);
  const agent = await offer(partner, home.createUnknownAgent());
  const thief = underAnotherKey(agent);
  expect(await bootstrap(home, thief)).toMatchObject({
    status: 409,
    body: { code: "agent.key_changed" },
  });
  const known = await home.request("GET", `/api/v1/agents/${agent.agentId}/succession`);
  expect(known.status).toBe(404);
  // The same agent may register here as well, and the operator may bind any agent.
  expect(await bootstrap(home, agent)).toMatchObject({ status: 201 });
});

test("D1: the operator may bind an id that an admitted peer claims under another key", async () => {
  await addPeer(home, partner);
  const agent = await offer(partner, home.createUnknownAgent());
  const { agentId: agent_id, publicKey: public_key } = underAnotherKey(agent);
  expect(
    await home.asOperator("POST", "/api/v1/agents/bootstrap", { agent_id, public_key }),
  ).toMatchObject({ status: 201 });
});

test("D1: a stranger's claim that an admitted peer passes on blocks no agent", async () => {
  await addPeer(home, partner);
  await addPeer(squatting, partner);
  await home.asOperator("DELETE", `/api/v1/admin/federation/peers/${squatting.relayId}`);
  const agent = home.createUnknownAgent();
  await offer(squatting, underAnotherKey(agent));
  expect(await entriesOf(agent)).toMatchObject([{ source_relay: squatting.relayId }]);
  expect(await bootstrap(home, agent)).toMatchObject({ status: 201 });
});

test("A4: with three relays and one squatter the admitted peer's claim wins, and its agent gets the tasks", async () => {
  await addPeer(home, partner);
  const agent = await offer(partner, home.createUnknownAgent());
  await offer(squatting, underAnotherKey(agent));
  const [entry, ...more] = await entriesOf(agent);
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ public_key: agent.publicKey, source_relay: partner.relayId });
  expect(entry).not.toHaveProperty("id_conflict");
  const boss = await home.createAgent();
  expect(await submit(boss, agent.agentId)).toMatchObject({ status: 201 });
  expect(await waitForTask(partner, agent)).toMatchObject({ agent_id: agent.agentId });
  const scored = await submit(boss, boss.agentId, { required_capabilities: ["summarise"] });
  expect(scored.body["routing_choice"]).toMatchObject({ selected_agent: agent.agentId });
  expect(squatting.listLogged("federation.task.taken")).toEqual([]);
});

test("D1: a squatter with the only offer of a capability gets no tasks for the id of an admitted peer's agent", async () => {
  await addPeer(home, partner);
  const agent = await offer(partner, home.createUnknownAgent());
  await offer(squatting, underAnotherKey(agent), "translate");
  const boss = await home.createAgent();
  // Home knows only the squatter, by its capability.
  await entriesOf(agent, "translate");
  expect(await submit(boss, agent.agentId)).toMatchObject({ status: 201 });
  expect(await waitForTask(partner, agent)).toMatchObject({ agent_id: agent.agentId });
  expect(await entriesOf(agent, "translate")).toEqual([]);
  expect(squatting.listLogged("federation.task.taken")).toEqual([]);
});

test("D1: an id that two strangers claim is in conflict, and gets no task unless the task names its key", async () => {
  await addPeer(partner, home);
  const agent = await offer(partner, home.createUnknownAgent());
  const squatter = await offer(squatting, underAnotherKey(agent));
  expect(await entriesOf(agent)).toMatchObject([{ id_conflict: true }]);
  const boss = await home.createAgent();
  await home.deposit(boss, 1);
  expect(await submit(boss, agent.agentId)).toMatchObject(conflict);
  expect(await submit(boss, agent.agentId, { required_capabilities: ["summarise"] })).toMatchObject(
    conflict,
  );
  const { publicKey } = home.createUnknownAgent();
  expect(await submit(boss, agent.agentId, { public_key: publicKey })).toMatchObject(conflict);
  expect(await home.getBalance(boss)).toBe(1);
  for (const site of [partner, squatting])
    expect(site.listLogged("federation.task.taken")).toEqual([]);

  const pinned = { public_key: agent.publicKey };
  expect(await submit(boss, agent.agentId, pinned)).toMatchObject({ status: 201 });
  expect(await waitForTask(partner, agent)).toMatchObject({ agent_id: agent.agentId });
  const scored = { public_key: squatter.publicKey, required_capabilities: ["summarise"] };
  const chosen = await submit(boss, agent.agentId, scored);
  expect(chosen.body["routing_choice"]).toMatchObject({ selected_agent: agent.agentId });
  expect(await waitForTask(squatting, squatter)).toMatchObject({ agent_id: agent.agentId });
});

test("D1: an id of version 8 cannot be squatted at any relay, and needs no query to peers", async () => {
  await addPeer(home, partner);
  const stranger = home.createUnknownAgent();
  const agent = { ...stranger, agentId: deriveAgentId(stranger.publicKey) };
  for (const site of network.sites) {
    expect(await bootstrap(site, underAnotherKey(agent))).toMatchObject({
      status: 403,
      body: { code: "agent.id_not_of_key" },
    });
    expect(await bootstrap(site, agent)).toMatchObject({ status: 201 });
  }
  expect(partner.listLogged("federation.query.answered")).toEqual([]);
});

test("D1: new ids of strangers cause at most ten queries to peers a minute, and are bound in any case", async () => {
  await addPeer(home, partner);
  for (let made = 0; made < 15; made += 1) {
    expect(await bootstrap(home, home.createUnknownAgent())).toMatchObject({ status: 201 });
  }
  expect(partner.listLogged("federation.query.answered")).toHaveLength(10);
});

test("D1: an admitted peer that does not answer delays a new agent only as long as a discovery may last", async () => {
  await addPeer(home, partner);
  await partner.stop();
  expect(await bootstrap(home, home.createUnknownAgent())).toMatchObject({ status: 201 });
});
