import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  bootstrapWithProof,
  createDisplacedAgent,
  createAgentWithKeyOf,
} from "../../test/agents/key-proof.ts";
import { claimPairing, openPairing, createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const keyInUse = { status: 409, body: { code: "agent.key_in_use" } };
const displacedRefusal = { status: 403, body: { code: "agent.key_displaced" } };

/** Bootstraps without a proof, which the specification allows. */
const bootstrap = ({ agentId, publicKey }: TestAgent, more: object = {}): Promise<Reply> =>
  t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agentId, public_key: publicKey, ...more },
  });

const balance = (agent: TestAgent) => t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`);

const recordOf = async ({ agentId }: TestAgent) =>
  (await t.asOperator("GET", `/api/v1/agents/${agentId}`)).body;

const register = (agent: TestAgent) =>
  t.asOperator("POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["summarise"],
  });

describe("Keys proven under one id", () => {
  const proofs: Readonly<Record<string, (agent: TestAgent) => Promise<TestAgent>>> = {
    "by the proof of a bootstrap": async (agent) => {
      const { body } = await bootstrapWithProof(t, agent);
      return { ...agent, deviceId: String(body["device_id"]) };
    },
    "by a token": async (agent) => {
      const { body } = await bootstrap(agent);
      const known = { ...agent, deviceId: String(body["device_id"]) };
      expect(await balance(known)).toMatchObject({ status: 200 });
      return known;
    },
    "by a receipt that the operator delivers": async (agent) => {
      const { body } = await bootstrap(agent);
      const known = { ...agent, deviceId: String(body["device_id"]) };
      const path = `/agent/${agent.agentId}/task`;
      const { body: sent } = await t.asOperator("POST", path, { prompt: "work" });
      const taskPath = `${path}/${String(sent["task_id"])}`;
      const { body: polled } = await t.asOperator("GET", taskPath);
      const receipt = createReceipt(known, polled["task"] as Parameters<typeof createReceipt>[1]);
      expect(await t.asOperator("POST", `${taskPath}/result`, receipt)).toMatchObject({
        status: 200,
      });
      return known;
    },
  };

  test.each(Object.entries(proofs))(
    "D2: a key proven %s is refused under another id",
    async (_, prove) => {
      const agent = await prove(t.createUnknownAgent());
      const other = createAgentWithKeyOf(t, agent);
      expect(await bootstrap(other)).toMatchObject(keyInUse);
      expect(await bootstrapWithProof(t, other)).toMatchObject(keyInUse);
      expect(await t.asOperator("GET", `/api/v1/agents/${other.agentId}`)).toMatchObject({
        status: 404,
      });
      expect(await balance(agent)).toMatchObject({ status: 200 });
    },
  );
});

test("D2: the record of an agent shows whether its key is proven", async () => {
  const agent = await t.createAgent();
  await register(agent);
  expect(await recordOf(agent)).toMatchObject({ key_proven: false });
  expect(await balance(agent)).toMatchObject({ status: 200 });
  expect(await recordOf(agent)).toMatchObject({ key_proven: true });
});

test("D2: an unproven binding blocks no other agent, proven or not", async () => {
  const unproven = await t.createAgent();
  const other = createAgentWithKeyOf(t, unproven);
  expect(await bootstrap(other)).toMatchObject({ status: 201 });
  expect(await bootstrapWithProof(t, other)).toMatchObject({ status: 200 });
});

describe("H22: a key that many ids claim without proof", () => {
  async function claimOften(): Promise<TestAgent> {
    const holder = t.createUnknownAgent();
    for (let i = 0; i < limits.unprovenBindings; i += 1) {
      expect(await bootstrap(createAgentWithKeyOf(t, holder))).toMatchObject({ status: 201 });
    }
    return holder;
  }

  test("H22: another id can claim the key only with a proof, which ends all other claims", async () => {
    const holder = await claimOften();
    expect(await bootstrap(holder)).toMatchObject(keyInUse);
    expect(await bootstrapWithProof(t, holder)).toMatchObject({ status: 201 });
    expect(await bootstrap(holder)).toMatchObject({ status: 200 });
    const { body } = await t.asOperator("GET", "/api/v1/admin/audit?action=key.displaced");
    expect(body["entries"]).toHaveLength(limits.unprovenBindings);
  });

  test("H24: the operator can bind and register a key with many claims without a proof", async () => {
    const holder = await claimOften();
    const { agentId: agent_id, publicKey: public_key } = holder;
    const endpoint = { endpoint_url: "http://127.0.0.1:1/mcp", capabilities: [] };
    const registration = { agent_id, public_key, ...endpoint };
    expect(await t.asOperator("POST", "/api/v1/agents/register", registration)).toMatchObject({
      status: 200,
    });
    const { agentId, publicKey } = createAgentWithKeyOf(t, holder);
    const claim = { agent_id: agentId, public_key: publicKey };
    expect(await t.asOperator("POST", "/api/v1/agents/bootstrap", claim)).toMatchObject({
      status: 201,
    });
    expect(await bootstrap(createAgentWithKeyOf(t, holder))).toMatchObject(keyInUse);
  });

  test("H22: a key that many ids claim is refused as a device's key", async () => {
    const holder = await claimOften();
    const owner = await t.createAgent();
    const session = await openPairing(t, owner);
    expect(await claimPairing(t, session, holder)).toMatchObject(keyInUse);
    expect(await claimPairing(t, session, t.createUnknownAgent())).toMatchObject({ status: 200 });
  });

  test("H22: an id may be rotated to a key that many ids claim, because its record proves the key", async () => {
    const holder = await claimOften();
    const agent = await t.createAgent();
    const { succession } = createRotation(t, agent, { to: holder });
    const path = `/api/v1/agents/${agent.agentId}/rotate-key`;
    expect(await t.as(agent, "POST", path, { succession })).toMatchObject({ status: 200 });
  });
});

describe("An agent that loses its unproven key to the first proof", () => {
  test("D2: a displaced agent keeps its account and its tokens are refused with 403", async () => {
    const unproven = await t.createAgent();
    await register(unproven);
    await t.deposit(unproven, 3);
    const other = createAgentWithKeyOf(t, unproven);
    expect(await bootstrapWithProof(t, other)).toMatchObject({ status: 201 });
    expect(await balance(unproven)).toMatchObject(displacedRefusal);
    expect(await bootstrap(unproven)).toMatchObject(displacedRefusal);
    expect(await bootstrap({ ...t.createUnknownAgent(), agentId: unproven.agentId })).toMatchObject(
      displacedRefusal,
    );
    expect(await t.getBalance(unproven)).toBe(3);
    expect(await recordOf(unproven)).toMatchObject({ public_key: null, key_proven: false });
    const found = await t.asOperator("GET", "/api/v1/agents/discover?capability=summarise");
    expect(found.body).toMatchObject({ agents: [] });
    const audit = await t.asOperator("GET", `/api/v1/agents/${unproven.agentId}/audit`);
    expect(JSON.stringify(audit.body)).toContain("key.displaced");
  });

  test("D2: a displaced agent can be bound again only by a succession record that the lost key signed", async () => {
    const { displaced, holder } = await createDisplacedAgent(t);
    const { next, succession } = createRotation(t, displaced);
    const wrong = createRotation(t, { ...displaced, secretKey: t.createUnknownAgent().secretKey });
    expect(await bootstrap(wrong.next, { succession: wrong.succession })).toMatchObject({
      status: 400,
    });
    const bound = await bootstrap(next, { succession });
    expect(bound).toMatchObject({ status: 200 });
    const again = { ...next, deviceId: String(bound.body["device_id"]) };
    expect(await balance(again)).toMatchObject({ status: 200 });
    expect(await balance(holder)).toMatchObject({ status: 200 });
  });

  test("D2: an agent loses an unproven key and its cached token when a token proves the key for another id", async () => {
    const [first, second] = [t.createUnknownAgent(), t.createUnknownAgent()];
    const shared = { ...second, secretKey: first.secretKey, publicKey: first.publicKey };
    const ids = [await bootstrap(first), await bootstrap(shared)].map(({ body }) =>
      String(body["device_id"]),
    );
    const [mine = "", other = ""] = ids;
    expect(await balance({ ...shared, deviceId: other })).toMatchObject({ status: 200 });
    expect(await balance({ ...first, deviceId: mine })).toMatchObject(displacedRefusal);
    expect(await balance({ ...shared, deviceId: other })).toMatchObject({ status: 200 });
  });

  test("D2: a key that was bound to 20 ids without a proof is taken from all of them", async () => {
    const victim = t.createUnknownAgent();
    const unprovenAgents = Array.from({ length: 20 }, () => createAgentWithKeyOf(t, victim));
    await Promise.all(unprovenAgents.map((unproven) => bootstrap(unproven)));
    expect(await bootstrapWithProof(t, victim)).toMatchObject({ status: 201 });
    for (const unproven of unprovenAgents) {
      expect(await bootstrap(unproven)).toMatchObject(displacedRefusal);
    }
  });
});

test("D2: a receipt does not take the key from another agent; only a token that proves it does", async () => {
  const unproven = await t.createAgent();
  const worker = createAgentWithKeyOf(t, unproven);
  const { body } = await bootstrap(worker);
  const known = { ...worker, deviceId: String(body["device_id"]) };
  const path = `/agent/${worker.agentId}/task`;
  const { body: sent } = await t.asOperator("POST", path, { prompt: "work" });
  const taskPath = `${path}/${String(sent["task_id"])}`;
  const { body: polled } = await t.asOperator("GET", taskPath);
  const receipt = createReceipt(known, polled["task"] as Parameters<typeof createReceipt>[1]);
  expect(await t.asOperator("POST", `${taskPath}/result`, receipt)).toMatchObject({ status: 200 });
  expect(await balance(unproven)).toMatchObject(displacedRefusal);
  expect(await balance(unproven)).toMatchObject(displacedRefusal);
  expect(await balance(known)).toMatchObject({ status: 200 });
});

test("D2: exactly one of 50 ids that prove the same key concurrently gets it", async () => {
  const victim = t.createUnknownAgent();
  const rivals = Array.from({ length: 50 }, () => createAgentWithKeyOf(t, victim));
  const replies = await Promise.all(rivals.map((rival) => bootstrapWithProof(t, rival)));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
});

test("D2: a proven key cannot become a device of another agent, and a device's key cannot become another agent", async () => {
  const owner = await t.createAgent();
  const proven = t.createUnknownAgent();
  const session = await openPairing(t, owner);
  await bootstrapWithProof(t, proven);
  expect(await claimPairing(t, session, proven)).toMatchObject(keyInUse);
  const device = await createPairedDevice(t, owner);
  expect(await balance(device)).toMatchObject({ status: 200 });
  expect(await bootstrapWithProof(t, createAgentWithKeyOf(t, device))).toMatchObject(keyInUse);
});

test("D2: a rotation to a key proven under another id is refused and changes nothing", async () => {
  const [agent, other] = [await t.createAgent(), t.createUnknownAgent()];
  await bootstrapWithProof(t, other);
  const { next, succession } = createRotation(t, agent, { to: other });
  expect(await bootstrap(next, { succession })).toMatchObject(keyInUse);
  expect(await balance(agent)).toMatchObject({ status: 200 });
});

test("D2: a key that its agent no longer uses may be bound again", async () => {
  const agent = await t.createAgent();
  expect(await balance(agent)).toMatchObject({ status: 200 });
  const { next, succession } = createRotation(t, agent);
  expect(await bootstrap(next, { succession })).toMatchObject({ status: 200 });
  expect(await bootstrapWithProof(t, createAgentWithKeyOf(t, agent))).toMatchObject({
    status: 201,
  });
  expect(await balance(next)).toMatchObject({ status: 200 });
});

test("D2: a token of an unproven key is accepted while the relay is frozen, but proves nothing", async () => {
  const agent = await t.createAgent();
  await register(agent);
  await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  expect(await balance(agent)).toMatchObject({ status: 200 });
  expect(await recordOf(agent)).toMatchObject({ key_proven: false });
});
