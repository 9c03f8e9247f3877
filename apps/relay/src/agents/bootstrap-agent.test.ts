import { deriveAgentId, sign, signSuccession, toBase64Url, utf8ToBytes } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const uuid = "019b7d21-53eb-7ccd-926c-3badff397897";

const bootstrap = (body: Record<string, unknown>, relay = t): Promise<Reply> =>
  relay.request("POST", "/api/v1/agents/bootstrap", { body });

const claim = ({ agentId, publicKey }: TestAgent, more: Record<string, unknown> = {}) =>
  bootstrap({ agent_id: agentId, public_key: publicKey, ...more });

/** Returns the key that the relay has stored for an agent's device. */
async function keyOf({ deviceId }: TestAgent): Promise<unknown> {
  return (await t.asOperator("GET", `/api/v1/devices/${deviceId}`)).body["public_key"];
}

const balance = (agent: TestAgent, token: string) =>
  t.request("GET", `/api/v1/agents/${agent.agentId}/balance`, { token });

/** Returns the agent with another key, and the succession record that names it. */
function successor(agent: TestAgent, timestamp = t.clock.now()) {
  const { secretKey, publicKey } = t.createUnknownAgent();
  const keys = { oldSecretKey: agent.secretKey, newSecretKey: secretKey };
  const succession = signSuccession({ agent_id: agent.agentId, ...keys, timestamp });
  return { next: { ...agent, secretKey, publicKey }, succession };
}

describe("Bootstrap", () => {
  test("a bootstrap is answered with 201 and the device of the new agent", async () => {
    const agent = t.createUnknownAgent();
    const { status, body } = await claim(agent);
    expect([status, body]).toEqual([
      201,
      { agent_id: agent.agentId, device_id: body["device_id"], registered: true },
    ]);
    expect(body["device_id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test("a repeated bootstrap is answered with 200 and the same device, and changes nothing", async () => {
    const agent = t.createUnknownAgent();
    const { body } = await claim(agent);
    const again = await claim(agent);
    expect(again).toMatchObject({ status: 200, body: { ...body, registered: false } });
  });

  test("a bootstrap binds a key to an agent that the operator registered earlier", async () => {
    const agent = t.createUnknownAgent();
    const registration = {
      agent_id: agent.agentId,
      endpoint_url: "http://127.0.0.1:1",
      capabilities: [],
    };
    await t.asOperator("POST", "/api/v1/agents/register", registration);
    expect(await claim(agent)).toMatchObject({ status: 201, body: { registered: true } });
  });

  test("KY12 the relay refuses a bootstrap under the relay's own id", async () => {
    const agent = { ...t.createUnknownAgent(), agentId: t.relay.relayId };
    expect(await claim(agent)).toMatchObject({ status: 400, body: { code: "agent.id_reserved" } });
  });

  test("KY1 another key without a succession record is refused with 409 and leaves the key", async () => {
    const agent = await t.createAgent();
    const { publicKey } = t.createUnknownAgent();
    expect(await claim({ ...agent, publicKey })).toMatchObject({
      status: 409,
      body: {
        code: "agent.key_changed",
        error: "Public key changed - succession record required",
      },
    });
    expect(await keyOf(agent)).toBe(agent.publicKey);
  });

  test("KY3 exactly one of 100 keys that claim one id concurrently is bound", async () => {
    const { agentId } = t.createUnknownAgent();
    const rivals = Array.from({ length: 100 }, () => ({ ...t.createUnknownAgent(), agentId }));
    const replies = await Promise.all(rivals.map((rival) => claim(rival)));
    const [winner, ...more] = rivals.filter((_, i) => replies[i]?.status === 201);
    expect([winner !== undefined, more]).toEqual([true, []]);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(99);
    const deviceId = String(replies.find(({ status }) => status === 201)?.body["device_id"]);
    expect(await keyOf({ ...winner!, deviceId })).toBe(winner!.publicKey);
  });

  test("KY7 the relay limits bootstraps to 30 a minute for one address", async () => {
    const limited = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const body = () => {
      const { agentId, publicKey } = limited.createUnknownAgent();
      return { agent_id: agentId, public_key: publicKey };
    };
    const statuses: number[] = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await bootstrap(body(), limited)).status);
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 201), 429]);
    await limited.close();
  });
});

describe("Public keys", () => {
  test.each([
    ["of 62 digits", "ab".repeat(31)],
    ["of 66 digits", "ab".repeat(33)],
    ["with 0x", `0x${"ab".repeat(31)}`],
    ["that is not hex", "zz".repeat(32)],
    ["in capitals", "AB".repeat(32)],
    ["with a line break", `${"ab".repeat(32)}\n`],
    ["that is all zero", "00".repeat(32)],
    ["that is the neutral point", `01${"00".repeat(31)}`],
    ["of order 2", `ec${"ff".repeat(30)}7f`],
    ["of order 4, not reduced modulo p", `ed${"ff".repeat(30)}ff`],
    ["of order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
    [
      "of order 8 with the sign bit",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ],
    ["that is a number", 1],
    ["that is missing", undefined],
  ])("KY4 the relay refuses a public key %s", async (_, public_key) => {
    expect(await bootstrap({ agent_id: uuid, public_key })).toMatchObject({ status: 400 });
  });

  test("KY4 the relay accepts a key that is off the curve, but verifies no token of it", async () => {
    // No point of the curve has y = 2.
    const agent = { ...t.createUnknownAgent(), publicKey: `02${"00".repeat(31)}` };
    const { status, body } = await claim(agent);
    expect(status).toBe(201);
    const known = { ...agent, deviceId: String(body["device_id"]) };
    expect(await balance(known, await t.token(known))).toMatchObject({ status: 401 });
  });
});

describe("Agent ids", () => {
  test.each([
    ["of version 1", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
    ["in capitals", uuid.toUpperCase()],
    ["with path characters", "../../../etc/passwd"],
    ["with control characters", `${uuid.slice(0, -2)}\u0000\n`],
    ["that is empty", ""],
    ["of a megabyte", "a".repeat(1_000_000)],
    ["that is __proto__", "__proto__"],
    ["that is an array", [uuid]],
    ["that is missing", undefined],
  ])("KY5 the relay refuses an agent id %s", async (_, agent_id) => {
    const { publicKey: public_key } = t.createUnknownAgent();
    const { status, body } = await bootstrap({ agent_id, public_key });
    expect([status, body["code"]]).toEqual([400, "request.invalid"]);
    expect(t.lines.join("").length).toBeLessThan(10_000);
  });

  test("KY5 the relay accepts a UUID of version 4, and one of version 8 that belongs to the key", async () => {
    const agentId = "f47ac10b-58cc-4372-a567-0e02b2c3d479";
    expect(await claim({ ...t.createUnknownAgent(), agentId })).toMatchObject({ status: 201 });
    const agent = t.createUnknownAgent();
    const own = { ...agent, agentId: deriveAgentId(agent.publicKey) };
    expect(await claim(own)).toMatchObject({ status: 201 });
  });
});

describe("Succession records", () => {
  test("a succession moves the agent and its device to the new key and refuses the old key's tokens", async () => {
    const agent = await t.createAgent();
    const old = await t.token(agent);
    expect(await balance(agent, old)).toMatchObject({ status: 200 });

    const { next, succession } = successor(agent);
    expect(await claim(next, { succession })).toMatchObject({
      status: 200,
      body: { device_id: agent.deviceId, registered: false },
    });
    expect(await keyOf(agent)).toBe(next.publicKey);
    expect(await balance(agent, old)).toMatchObject({ status: 401 });
    expect(await balance(agent, await t.token(agent))).toMatchObject({ status: 401 });
    expect(await balance(agent, await t.token(next))).toMatchObject({ status: 200 });
    expect(await claim(agent)).toMatchObject({ status: 409 });
  });

  test("the relay accepts a later succession after an earlier one", async () => {
    const agent = await t.createAgent();
    const first = successor(agent, 1_000);
    await claim(first.next, { succession: first.succession });
    const second = successor(first.next, 1_001);
    expect(await claim(second.next, { succession: second.succession })).toMatchObject({
      status: 200,
    });
    expect(await keyOf(agent)).toBe(second.next.publicKey);
  });

  test("the relay accepts exactly one of 50 competing succession records that the same key signed", async () => {
    const agent = await t.createAgent();
    const rivals = Array.from({ length: 50 }, () => successor(agent));
    const replies = await Promise.all(
      rivals.map(({ next, succession }) => claim(next, { succession })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 400)).toHaveLength(49);
  });

  type Bad = (agent: TestAgent) => { next: TestAgent; succession: unknown };
  const refused: Readonly<Record<string, Bad>> = {
    "signed by the old key only": (agent) => {
      const { next, succession } = successor(agent);
      return {
        next,
        succession: { ...succession, new_key_signature: succession.old_key_signature },
      };
    },
    "signed by the new key only": (agent) => {
      const { next, succession } = successor(agent);
      return {
        next,
        succession: { ...succession, old_key_signature: succession.new_key_signature },
      };
    },
    "signed by another pair": (agent) =>
      successor({ ...agent, secretKey: t.createUnknownAgent().secretKey }),
    "for another id": (agent) => {
      const { next, succession } = successor({ ...agent, agentId: t.createUnknownAgent().agentId });
      return { next: { ...next, agentId: agent.agentId }, succession };
    },
    "to another key than the one claimed": (agent) => {
      const { next, succession } = successor(agent);
      return { next: { ...next, publicKey: t.createUnknownAgent().publicKey }, succession };
    },
    "with a member changed after signing": (agent) => {
      const { next, succession } = successor(agent);
      return { next, succession: { ...succession, timestamp: succession.timestamp + 1 } };
    },
    "from the far future": (agent) => successor(agent, t.clock.now() + 300_001),
    "of another suite": (agent) => {
      const { next, succession } = successor(agent);
      return { next, succession: { ...succession, suite: "none" } };
    },
    "that is empty": (agent) => ({ ...successor(agent), succession: {} }),
    "that is an array": (agent) => ({ ...successor(agent), succession: [] }),
    "that is null": (agent) => ({ ...successor(agent), succession: null }),
    "that is a text": (agent) => {
      const { next, succession } = successor(agent);
      return { next, succession: JSON.stringify(succession) };
    },
  };

  test.each(Object.entries(refused))(
    "KY2 the relay refuses a succession record %s with 400 and leaves the key",
    async (_, make) => {
      const agent = await t.createAgent();
      const { next, succession } = make(agent);
      expect(await claim(next, { succession })).toMatchObject({ status: 400 });
      expect(await keyOf(agent)).toBe(agent.publicKey);
      expect(await balance(agent, await t.token(agent))).toMatchObject({ status: 200 });
    },
  );

  test("KY2 the relay refuses a succession to a former key, by the old record or by a new one", async () => {
    const agent = await t.createAgent();
    const first = successor(agent, 1_000);
    await claim(first.next, { succession: first.succession });
    const second = successor(first.next, 2_000);
    await claim(second.next, { succession: second.succession });

    const back = signSuccession({
      agent_id: agent.agentId,
      oldSecretKey: second.next.secretKey,
      newSecretKey: agent.secretKey,
      timestamp: 3_000,
    });
    const notLater = successor(second.next, 2_000);
    for (const [next, succession] of [
      [first.next, first.succession],
      [second.next, first.succession],
      [agent, back],
      [notLater.next, notLater.succession],
    ] as const) {
      const { status } = await claim(next, { succession });
      // The current key needs no succession record.
      expect(status).toBe(next === second.next ? 200 : 400);
      expect(await keyOf(agent)).toBe(second.next.publicKey);
    }
  });
});

describe("Proofs of possession", () => {
  const proofOf = (agent: TestAgent, change: { timestamp?: number; text?: string } = {}) => {
    const { timestamp = t.clock.now() } = change;
    const { text = `${agent.agentId}:${agent.publicKey}:${timestamp}` } = change;
    const signature = toBase64Url(sign(utf8ToBytes(text), agent.secretKey));
    return { proof: { timestamp, signature } };
  };

  test("the relay accepts a valid proof whose time is up to five minutes from the relay's clock", async () => {
    for (const off of [0, -300_000, 300_000]) {
      const agent = t.createUnknownAgent();
      const proof = proofOf(agent, { timestamp: t.clock.now() + off });
      expect(await claim(agent, proof)).toMatchObject({ status: 201 });
    }
  });

  const bad: Readonly<Record<string, (agent: TestAgent) => object>> = {
    "by another key": (agent) =>
      proofOf({ ...t.createUnknownAgent(), ...agent, secretKey: t.createUnknownAgent().secretKey }),
    "over another id": (agent) =>
      proofOf(agent, { text: `${uuid}:${agent.publicKey}:${t.clock.now()}` }),
    "over another time": (agent) =>
      proofOf(agent, { text: `${agent.agentId}:${agent.publicKey}:1` }),
    "more than five minutes old": (agent) => proofOf(agent, { timestamp: t.clock.now() - 300_001 }),
    "more than five minutes ahead": (agent) =>
      proofOf(agent, { timestamp: t.clock.now() + 300_001 }),
    "whose signature is not base64url": () => ({
      proof: { timestamp: t.clock.now(), signature: "*" },
    }),
    "whose signature is empty": () => ({ proof: { timestamp: t.clock.now(), signature: "" } }),
    "without a signature": () => ({ proof: { timestamp: t.clock.now() } }),
    "that is null": () => ({ proof: null }),
  };

  test.each(Object.entries(bad))(
    "the relay refuses a proof %s with 400 and binds nothing",
    async (_, make) => {
      const agent = t.createUnknownAgent();
      expect(await claim(agent, { ...make(agent) })).toMatchObject({ status: 400 });
      expect(await claim(agent)).toMatchObject({ status: 201 });
    },
  );

  test("the relay requires a proof where the operator demands one", async () => {
    const strict = await startTestRelay({ AGENT_REQUIRE_BOOTSTRAP_PROOF: "true" });
    const agent = t.createUnknownAgent();
    const body = { agent_id: agent.agentId, public_key: agent.publicKey };
    expect(await bootstrap(body, strict)).toMatchObject({
      status: 400,
      body: { code: "agent.proof_required" },
    });
    expect(await bootstrap({ ...body, ...proofOf(agent) }, strict)).toMatchObject({ status: 201 });
    await strict.close();
  });
});
