import { deriveAgentId, signSuccession } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEditedRelay } from "../../test/stored/edited-relay.ts";
import { bootstrapWithProof } from "../../test/agents/key-proof.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

/** Creates an agent under the id of its key that the relay does not know. */
function newcomer(): TestAgent {
  const agent = t.createUnknownAgent();
  return { ...agent, agentId: deriveAgentId(agent.publicKey) };
}

const bootstrap = (agent: TestAgent, succession?: unknown): Promise<Reply> =>
  t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agent.agentId, public_key: agent.publicKey, succession },
  });

const isKnown = async ({ agentId }: TestAgent) =>
  (await t.request("GET", `/api/v1/agents/${agentId}/succession`)).status === 200;

function rotated(agent: TestAgent, timestamp: number) {
  const { secretKey, publicKey } = t.createUnknownAgent();
  const succession = signSuccession({
    agent_id: agent.agentId,
    oldSecretKey: agent.secretKey,
    newSecretKey: secretKey,
    timestamp,
  });
  return { next: { ...agent, secretKey, publicKey }, succession };
}

const notOfKey = { status: 403, body: { code: "agent.id_not_of_key" } };

test("D1: an id of version 8 is bound to its own key and refused under any other", async () => {
  const agent = newcomer();
  const squatter = { ...t.createUnknownAgent(), agentId: agent.agentId };
  expect(await bootstrap(squatter)).toMatchObject(notOfKey);
  expect(await bootstrapWithProof(t, squatter)).toMatchObject(notOfKey);
  expect(await isKnown(agent)).toBe(false);
  expect(await bootstrap(agent)).toMatchObject({ status: 201 });
});

test("D1: the operator cannot bind an id of version 8 to another key either", async () => {
  const agent = newcomer();
  const registration = {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: [],
  };
  const register = (public_key: string) =>
    t.asOperator("POST", "/api/v1/agents/register", { ...registration, public_key });
  expect(await register(t.createUnknownAgent().publicKey)).toMatchObject(notOfKey);
  expect(await isKnown(agent)).toBe(false);
  expect(await register(agent.publicKey)).toMatchObject({ status: 200 });
});

test("D1: a succession record signed by the key of an id binds the id's current key at a new relay", async () => {
  const agent = newcomer();
  const { next, succession } = rotated(agent, t.clock.now() - 1_000);
  expect(await bootstrap(next)).toMatchObject(notOfKey);
  expect(await bootstrap(next, succession)).toMatchObject({ status: 201 });
  const history = await t.request("GET", `/api/v1/agents/${agent.agentId}/succession`);
  expect(history.body).toMatchObject({
    current_public_key: next.publicKey,
    keys: [{ public_key: agent.publicKey }, { public_key: next.publicKey, valid_until: null }],
    chain: [succession],
  });
});

test("D1: a chain of succession records is accepted only if it is complete and oldest first", async () => {
  const agent = newcomer();
  const first = rotated(agent, t.clock.now() - 2_000);
  const second = rotated(first.next, t.clock.now() - 1_000);
  const chain = [first.succession, second.succession];
  expect(await bootstrap(second.next, second.succession)).toMatchObject(notOfKey);
  expect(await bootstrap(second.next, chain.toReversed())).toMatchObject(notOfKey);
  expect(await bootstrap(first.next, chain)).toMatchObject(notOfKey);
  expect(await isKnown(agent)).toBe(false);
  expect(await bootstrap(second.next, chain)).toMatchObject({ status: 201 });
  // A former key does not become current again.
  expect(await bootstrap(agent)).toMatchObject({ status: 409 });
});

test("D1: a chain from another relay continues from the key that this relay knows", async () => {
  const agent = newcomer();
  await bootstrap(agent);
  const first = rotated(agent, t.clock.now() + 1);
  await bootstrap(first.next, first.succession);
  const second = rotated(first.next, t.clock.now() + 2);
  const third = rotated(second.next, t.clock.now() + 3);
  const chain = [first.succession, second.succession, third.succession];
  expect(await bootstrap(third.next, chain)).toMatchObject({ status: 200 });
  const history = await t.request("GET", `/api/v1/agents/${agent.agentId}/succession`);
  expect(history.body).toMatchObject({ current_public_key: third.next.publicKey, chain });
});

test.each([
  ["an empty list", []],
  ["a list with a text", ["record"]],
  ["more than 100 records", Array.from({ length: 101 }, () => ({}))],
])("D1: %s is refused as a succession, and the refusal names the field", async (_, succession) => {
  const agent = newcomer();
  const refused = await bootstrap(agent, succession);
  expect(refused).toMatchObject({ status: 400, body: { code: "request.invalid" } });
  expect(JSON.stringify(refused.body["issues"])).toContain("succession");
  expect(await isKnown(agent)).toBe(false);
});

test("D1: a broken record and a record from the future are refused with 400 and bind nothing", async () => {
  const agent = newcomer();
  const { next, succession } = rotated(agent, t.clock.now() + 300_001);
  const forged = { ...rotated(agent, 1).succession, new_public_key: next.publicKey };
  for (const record of [succession, forged]) {
    expect(await bootstrap(next, record)).toMatchObject({
      status: 400,
      body: { code: "agent.succession_invalid" },
    });
  }
  expect(await isKnown(agent)).toBe(false);
});

test("D1: an id of version 8 that an earlier version bound to another key keeps that key", async () => {
  const id = "00000000-0000-8000-8000-000000000000";
  const edited = await openEditedRelay(({ agentId }) =>
    ["agents", "agent_keys", "devices"]
      .map((table) => `UPDATE ${table} SET agent_id = '${id}' WHERE agent_id = '${agentId}';`)
      .join(""),
  );
  const known = { ...edited.agent, agentId: id };
  const { agentId: agent_id, publicKey: public_key } = known;
  const again = await edited.t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id, public_key },
  });
  expect(again).toMatchObject({ status: 200, body: { registered: false } });
  const balance = await edited.t.as(known, "GET", `/api/v1/agents/${id}/balance`);
  expect(balance).toMatchObject({ status: 200 });
  await edited.close();
});

test("D1: a task that names the key of its target does not reach an agent with another key", async () => {
  const [boss, worker] = [await t.createAgent(), await t.createAgent()];
  const submit = (agentId: string, public_key: string) =>
    t.as(boss, "POST", `/agent/${agentId}/task`, { prompt: "work", public_key });
  expect(await submit(worker.agentId, t.createUnknownAgent().publicKey)).toMatchObject({
    status: 409,
    body: { code: "task.id_conflict" },
  });
  const { agentId, publicKey } = t.createUnknownAgent();
  expect(await submit(agentId, publicKey)).toMatchObject({
    status: 404,
    body: { code: "agent.not_found" },
  });
  expect(await submit(worker.agentId, worker.publicKey)).toMatchObject({ status: 201 });
  const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
  expect(body["tasks"]).toHaveLength(1);
});
