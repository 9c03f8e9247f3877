import { signSuccession } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const endpoint_url = "http://127.0.0.1:1/mcp";

const register = (agent: TestAgent, change: Record<string, unknown> = {}): Promise<Reply> =>
  t.as(agent, "POST", "/api/v1/agents/register", {
    agent_id: agent.agentId,
    endpoint_url,
    capabilities: ["summarise"],
    metadata: { name: "worker", description: "does work" },
    ...change,
  });

const shown = async ({ agentId }: TestAgent): Promise<Reply> =>
  t.asOperator("GET", `/api/v1/agents/${agentId}`);

const found = async (): Promise<unknown[]> => {
  const { body } = await t.asOperator("GET", "/api/v1/agents/discover");
  return (body["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
};

describe("Registration", () => {
  test("a registration adds the agent to the registry as it was sent, without expiry", async () => {
    const agent = await t.createAgent();
    expect(await found()).toEqual([]);
    const { status, body } = await register(agent);
    expect(status).toBe(200);
    expect(body).toEqual({
      registered: true,
      agent_id: agent.agentId,
      expires_at: null,
      checks: [
        { check: "key", ok: true, detail: "bound" },
        { check: "endpoint_url", ok: true, detail: "may be called" },
        { check: "listing", ok: false, detail: "no listing; the agent is free" },
        { check: "capabilities", ok: true, detail: "spelled like those of other agents" },
      ],
    });
    expect(await found()).toEqual([agent.agentId]);
    expect((await shown(agent)).body).toMatchObject({
      endpoint_url,
      capabilities: ["summarise"],
      metadata: { name: "worker", description: "does work" },
      online: true,
      freshness: "awake",
    });
  });

  test("a registration replaces an earlier registration", async () => {
    const agent = await t.createAgent();
    await register(agent);
    await register(agent, {
      capabilities: ["translate"],
      metadata: undefined,
      endpoint_url: "https://a.example",
    });
    expect((await shown(agent)).body).toMatchObject({
      endpoint_url: "https://a.example",
      capabilities: ["translate"],
      metadata: {},
    });
    expect(await found()).toEqual([agent.agentId]);
  });

  test.each([
    [[], "free"],
    [[{ capability: "summarise", unit_cost: 0 }], "free"],
    [[{ capability: "summarise", unit_cost: 0.000001 }], "paid"],
  ])(
    "a registration reports whether an agent with the pricing %j is paid: %s",
    async (pricing, detail) => {
      const agent = await t.createAgent();
      const listing = { capabilities: ["summarise"], pricing };
      await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, listing);
      const { body } = await register(agent);
      expect(body["checks"]).toContainEqual({ check: "listing", ok: true, detail });
    },
  );

  test("a registration by the operator reports a missing key", async () => {
    const { agentId: agent_id } = t.createUnknownAgent();
    const body = { agent_id, endpoint_url, capabilities: [] };
    const answer = await t.asOperator("POST", "/api/v1/agents/register", body);
    expect(answer.body["checks"]).toContainEqual({
      check: "key",
      ok: false,
      detail: "no key; bootstrap the agent",
    });
  });

  test("a registration reports an address that the relay may not call, and never calls it", async () => {
    const strict = await startTestRelay({ AGENT_PRIVATE_ENDPOINTS: "block" });
    const { agentId: agent_id } = t.createUnknownAgent();
    for (const url of [endpoint_url, "http://169.254.169.254/latest", "http://[::1]/"]) {
      const body = { agent_id, endpoint_url: url, capabilities: [] };
      const answer = await strict.asOperator("POST", "/api/v1/agents/register", body);
      expect(answer.status).toBe(200);
      expect(answer.body["checks"]).toContainEqual({
        check: "endpoint_url",
        ok: false,
        detail: "the relay will not call this address",
      });
    }
    await strict.close();
  });

  test("KY8 the relay answers 403 to a registration of another agent and registers nothing", async () => {
    const [agent, other] = [await t.createAgent(), await t.createAgent()];
    expect(await register(agent, { agent_id: other.agentId })).toMatchObject({
      status: 403,
      body: { code: "auth.not_owner" },
    });
    expect(await found()).toEqual([]);
  });
});

describe("Invalid values of endpoint_url", () => {
  test.each([
    ["ftp://a.example/"],
    ["file:///etc/passwd"],
    ["javascript:alert(1)"],
    ["data:text/plain,x"],
    ["a.example/mcp"],
    ["//a.example/mcp"],
    ["http:/a.example"],
    ["http://"],
    ["http:///mcp"],
    ["http://user@a.example/"],
    ["http://user:secret@a.example/"],
    ["http://a.example:99999/"],
    ["http://[::1/"],
    ["http://:80/"],
    ["http://a b.example/"],
    ["http://a.example/a b"],
    ["http://a.example/\n"],
    [" http://a.example/"],
    [`http://a.example/${"x".repeat(10_000)}`],
    [""],
    [1],
    [null],
    [undefined],
  ])("KY9 the relay refuses an endpoint_url of %j", async (url) => {
    const agent = await t.createAgent();
    const { status, body } = await register(agent, { endpoint_url: url });
    expect([status, body["code"]]).toEqual([400, "request.invalid"]);
    expect(body["error"]).toContain("endpoint_url");
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(await found()).toEqual([]);
  });
});

describe("Other members of a registration", () => {
  test.each([
    ["capabilities", "summarise"],
    ["capabilities", [""]],
    ["capabilities", Array.from({ length: 101 }, (_, i) => `c${i}`)],
    ["capabilities", undefined],
    ["metadata", []],
    ["metadata", "worker"],
    ["metadata", { name: 1 }],
    ["metadata", { description: "x".repeat(4_097) }],
    ["metadata", { more: "x".repeat(16_400) }],
    ["federation_visible", "true"],
    ["public_key", "ab"],
    ["agent_id", undefined],
  ])("the relay refuses a registration whose %s is %j", async (member, value) => {
    const agent = await t.createAgent();
    const { status, body } = await register(agent, { [member]: value });
    expect([status, body["code"]]).toEqual([400, "request.invalid"]);
    expect(body["error"]).toContain(member);
  });

  test("the relay stores metadata unchanged, whatever names its members have", async () => {
    const agent = await t.createAgent();
    const metadata = { name: "w", toString: "x", nested: { deep: [1, { a: null }] }, "": "" };
    await register(agent, { metadata });
    expect((await shown(agent)).body["metadata"]).toEqual(metadata);
  });
});

describe("Registration with a key", () => {
  test("a registration changes the key by a succession record, as bootstrap does", async () => {
    const agent = await t.createAgent();
    const { secretKey, publicKey } = t.createUnknownAgent();
    const succession = signSuccession({
      agent_id: agent.agentId,
      oldSecretKey: agent.secretKey,
      newSecretKey: secretKey,
      timestamp: t.clock.now(),
    });
    const old = await t.token(agent);
    expect(await register(agent, { public_key: publicKey, succession })).toMatchObject({
      status: 200,
    });
    const path = `/api/v1/agents/${agent.agentId}/balance`;
    expect(await t.request("GET", path, { token: old })).toMatchObject({ status: 401 });
    expect(await t.as({ ...agent, secretKey }, "GET", path)).toMatchObject({ status: 200 });
    expect((await shown(agent)).body["public_key"]).toBe(publicKey);
  });

  test("a registration may name the current key, and gets 409 for another key without a succession record", async () => {
    const agent = await t.createAgent();
    expect(await register(agent, { public_key: t.createUnknownAgent().publicKey })).toMatchObject({
      status: 409,
      body: { code: "agent.key_changed" },
    });
    expect(await found()).toEqual([]);
    expect(await register(agent, { public_key: agent.publicKey })).toMatchObject({ status: 200 });
  });
});

describe("Heartbeats", () => {
  test("the relay records a heartbeat from the agent or from the operator in its name", async () => {
    const worker = await t.createWorker(0);
    await t.clock.advance(7 * 60_000);
    expect((await shown(worker)).body).toMatchObject({ freshness: "recent", online: false });
    expect(await t.as(worker, "POST", "/api/v1/agents/heartbeat", {})).toMatchObject({
      status: 200,
      body: { agent_id: worker.agentId, last_seen_at: t.clock.now() },
    });
    expect((await shown(worker)).body).toMatchObject({ freshness: "awake", online: true });
    const named = { agent_id: worker.agentId };
    expect(await t.as(worker, "POST", "/api/v1/agents/heartbeat", named)).toMatchObject({
      status: 200,
    });
    expect(await t.asOperator("POST", "/api/v1/agents/heartbeat", named)).toMatchObject({
      status: 200,
    });
  });

  test("the relay accepts a heartbeat without a body", async () => {
    const worker = await t.createWorker(0);
    expect(await t.as(worker, "POST", "/api/v1/agents/heartbeat")).toMatchObject({ status: 200 });
  });
});

describe("Deregistration", () => {
  test("a deregistration removes the agent and its listing from discovery, but not its key and account", async () => {
    const worker = await t.createWorker(2);
    await t.deposit(worker, 5);
    const path = `/api/v1/agents/${worker.agentId}`;
    expect(await t.as(worker, "DELETE", path)).toMatchObject({
      status: 200,
      body: { agent_id: worker.agentId, registered: false },
    });
    expect(await found()).toEqual([]);
    expect(await t.asOperator("GET", path)).toMatchObject({
      body: { endpoint_url: null, capabilities: [], online: false },
    });
    expect(await t.request("GET", `${path}/listing`)).toMatchObject({ status: 404 });
    const market = await t.asOperator("GET", "/api/v1/market/candidates?capability=summarise");
    expect(market.body).toEqual({ candidates: [] });
    expect(await t.getBalance(worker)).toBe(5);
    expect(await t.as(worker, "DELETE", path)).toMatchObject({ status: 404 });
    expect(await register(worker)).toMatchObject({ status: 200 });
    expect(await found()).toEqual([worker.agentId]);
  });
});

describe("Devices", () => {
  test("the relay shows a device to any agent with a token", async () => {
    const [agent, other] = [await t.createAgent(), await t.createAgent()];
    const { status, body } = await t.as(other, "GET", `/api/v1/devices/${agent.deviceId}`);
    expect([status, body]).toEqual([
      200,
      {
        device_id: agent.deviceId,
        agent_id: agent.agentId,
        public_key: agent.publicKey,
        did: agent.did,
        device_name: null,
        registered_at: t.clock.now(),
        revoked: false,
      },
    ]);
  });
});
