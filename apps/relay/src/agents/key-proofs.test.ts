import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bootstrapWithProof, displacedAgent, withKeyOf } from "../../test/key-proof.ts";
import { claimSession, openSession, pairedDevice } from "../../test/pairing.ts";
import { rotationOf } from "../../test/rotation.ts";
import { receiptOf, startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const keyInUse = { status: 409, body: { code: "agent.key_in_use" } };
const displacedRefusal = { status: 403, body: { code: "agent.key_displaced" } };

/** A bootstrap without proof, as the specification has it. */
const bootstrap = ({ agentId, publicKey }: TestAgent, more: object = {}): Promise<Reply> =>
  t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agentId, public_key: publicKey, ...more },
  });

const balance = (agent: TestAgent) => t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`);

const recordOf = async ({ agentId }: TestAgent) =>
  (await t.asMaster("GET", `/api/v1/agents/${agentId}`)).body;

const register = (agent: TestAgent) =>
  t.asMaster("POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["summarise"],
  });

describe("D2: a key that is proven under one id is refused under another", () => {
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
      const { body: sent } = await t.asMaster("POST", path, { prompt: "work" });
      const taskPath = `${path}/${String(sent["task_id"])}`;
      const { body: polled } = await t.asMaster("GET", taskPath);
      const receipt = receiptOf(known, polled["task"] as Parameters<typeof receiptOf>[1]);
      expect(await t.asMaster("POST", `${taskPath}/result`, receipt)).toMatchObject({
        status: 200,
      });
      return known;
    },
  };

  test.each(Object.entries(proofs))("%s", async (_, prove) => {
    const agent = await prove(t.stranger());
    const other = withKeyOf(t, agent);
    expect(await bootstrap(other)).toMatchObject(keyInUse);
    expect(await bootstrapWithProof(t, other)).toMatchObject(keyInUse);
    expect(await t.asMaster("GET", `/api/v1/agents/${other.agentId}`)).toMatchObject({
      status: 404,
    });
    expect(await balance(agent)).toMatchObject({ status: 200 });
  });
});

test("D2: the record of an agent shows whether its key is proven", async () => {
  const agent = await t.agent();
  await register(agent);
  expect(await recordOf(agent)).toMatchObject({ key_proven: false });
  expect(await balance(agent)).toMatchObject({ status: 200 });
  expect(await recordOf(agent)).toMatchObject({ key_proven: true });
});

test("D2: an unproven binding blocks nobody, not even another unproven one", async () => {
  const squatter = await t.agent();
  const other = withKeyOf(t, squatter);
  expect(await bootstrap(other)).toMatchObject({ status: 201 });
  expect(await bootstrapWithProof(t, other)).toMatchObject({ status: 200 });
});

describe("D2: an agent that loses its unproven key to the first proof", () => {
  test("keeps its account, and its tokens die with 403", async () => {
    const squatter = await t.agent();
    await register(squatter);
    await t.deposit(squatter, 3);
    const other = withKeyOf(t, squatter);
    expect(await bootstrapWithProof(t, other)).toMatchObject({ status: 201 });
    expect(await balance(squatter)).toMatchObject(displacedRefusal);
    expect(await bootstrap(squatter)).toMatchObject(displacedRefusal);
    expect(await bootstrap({ ...t.stranger(), agentId: squatter.agentId })).toMatchObject(
      displacedRefusal,
    );
    expect(await t.balance(squatter)).toBe(3);
    expect(await recordOf(squatter)).toMatchObject({ public_key: null, key_proven: false });
    const found = await t.asMaster("GET", "/api/v1/agents/discover?capability=summarise");
    expect(found.body).toMatchObject({ agents: [] });
    const audit = await t.asMaster("GET", `/api/v1/agents/${squatter.agentId}/audit`);
    expect(JSON.stringify(audit.body)).toContain("key.displaced");
  });

  test("is bound again only by a succession record of the key that it lost", async () => {
    const { displaced, holder } = await displacedAgent(t);
    const { next, succession } = rotationOf(t, displaced);
    const wrong = rotationOf(t, { ...displaced, secretKey: t.stranger().secretKey });
    expect(await bootstrap(wrong.next, { succession: wrong.succession })).toMatchObject({
      status: 400,
    });
    const bound = await bootstrap(next, { succession });
    expect(bound).toMatchObject({ status: 200 });
    const again = { ...next, deviceId: String(bound.body["device_id"]) };
    expect(await balance(again)).toMatchObject({ status: 200 });
    expect(await balance(holder)).toMatchObject({ status: 200 });
  });

  test("loses it as well when a token proves it, and its own remembered token with it", async () => {
    const [first, second] = [t.stranger(), t.stranger()];
    const shared = { ...second, secretKey: first.secretKey, publicKey: first.publicKey };
    const ids = [await bootstrap(first), await bootstrap(shared)].map(({ body }) =>
      String(body["device_id"]),
    );
    const [mine = "", other = ""] = ids;
    expect(await balance({ ...shared, deviceId: other })).toMatchObject({ status: 200 });
    expect(await balance({ ...first, deviceId: mine })).toMatchObject(displacedRefusal);
    expect(await balance({ ...shared, deviceId: other })).toMatchObject({ status: 200 });
  });

  test("is one of many: a key that was bound to 20 ids without proof ends at all of them", async () => {
    const victim = t.stranger();
    const squatters = Array.from({ length: 20 }, () => withKeyOf(t, victim));
    await Promise.all(squatters.map((squatter) => bootstrap(squatter)));
    expect(await bootstrapWithProof(t, victim)).toMatchObject({ status: 201 });
    for (const squatter of squatters) {
      expect(await bootstrap(squatter)).toMatchObject(displacedRefusal);
    }
  });
});

test("D2: a receipt takes the key from no other agent until that one shows a token", async () => {
  const squatter = await t.agent();
  const worker = withKeyOf(t, squatter);
  const { body } = await bootstrap(worker);
  const known = { ...worker, deviceId: String(body["device_id"]) };
  const path = `/agent/${worker.agentId}/task`;
  const { body: sent } = await t.asMaster("POST", path, { prompt: "work" });
  const taskPath = `${path}/${String(sent["task_id"])}`;
  const { body: polled } = await t.asMaster("GET", taskPath);
  const receipt = receiptOf(known, polled["task"] as Parameters<typeof receiptOf>[1]);
  expect(await t.asMaster("POST", `${taskPath}/result`, receipt)).toMatchObject({ status: 200 });
  expect(await balance(squatter)).toMatchObject(displacedRefusal);
  expect(await balance(squatter)).toMatchObject(displacedRefusal);
  expect(await balance(known)).toMatchObject({ status: 200 });
});

test("D2: of 50 ids that prove one key at once exactly one has it", async () => {
  const victim = t.stranger();
  const rivals = Array.from({ length: 50 }, () => withKeyOf(t, victim));
  const replies = await Promise.all(rivals.map((rival) => bootstrapWithProof(t, rival)));
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
});

test("D2: a proven key cannot become a device of another agent, and a device's key no other agent", async () => {
  const owner = await t.agent();
  const proven = t.stranger();
  const session = await openSession(t, owner);
  await bootstrapWithProof(t, proven);
  expect(await claimSession(t, session, proven)).toMatchObject(keyInUse);
  const device = await pairedDevice(t, owner);
  expect(await balance(device)).toMatchObject({ status: 200 });
  expect(await bootstrapWithProof(t, withKeyOf(t, device))).toMatchObject(keyInUse);
});

test("D2: a rotation to a key that is proven under another id is refused and changes nothing", async () => {
  const [agent, other] = [await t.agent(), t.stranger()];
  await bootstrapWithProof(t, other);
  const { next, succession } = rotationOf(t, agent, { to: other });
  expect(await bootstrap(next, { succession })).toMatchObject(keyInUse);
  expect(await balance(agent)).toMatchObject({ status: 200 });
});

test("D2: a key that its agent has left may be bound again", async () => {
  const agent = await t.agent();
  expect(await balance(agent)).toMatchObject({ status: 200 });
  const { next, succession } = rotationOf(t, agent);
  expect(await bootstrap(next, { succession })).toMatchObject({ status: 200 });
  expect(await bootstrapWithProof(t, withKeyOf(t, agent))).toMatchObject({ status: 201 });
  expect(await balance(next)).toMatchObject({ status: 200 });
});

test("D2: a token of an unproven key is taken while the relay is frozen, and proves nothing then", async () => {
  const agent = await t.agent();
  await register(agent);
  await t.asMaster("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  expect(await balance(agent)).toMatchObject({ status: 200 });
  expect(await recordOf(agent)).toMatchObject({ key_proven: false });
});
