import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintToken } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { limits, scopes } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { createBuyer, submitTask } from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: ServedRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const pathOf = ({ agentId }: TestAgent, rest: string) => `/api/v1/agents/${agentId}/${rest}`;
const balance = (token: string) => t.request("GET", pathOf(agent, "balance"), { token });

/** Creates a token with a known id. */
const tokenNamed = (jti: string, relay: TestRelay = t) =>
  mintToken({ ...agent, audience: relay.did, scope: scopes, now: relay.clock.now(), jti });

describe("Revoked tokens", () => {
  const revoke = (...jtis: string[]) =>
    t.as(agent, "POST", pathOf(agent, "revoke-tokens"), { jtis });
  const refused = { status: 401, body: { code: "auth.token_revoked", error: "Invalid token" } };

  test("the relay refuses a revoked token that was verified before, and accepts others", async () => {
    const [lost, kept] = [await tokenNamed("lost"), await tokenNamed("kept")];
    expect(await balance(lost)).toMatchObject({ status: 200 });
    expect(await revoke("lost", "lost")).toMatchObject({ status: 200, body: { revoked: 1 } });
    expect(await balance(lost)).toMatchObject(refused);
    expect(await balance(kept)).toMatchObject({ status: 200 });
  });

  test("a token that was never presented, or never issued, can be revoked", async () => {
    await revoke("later");
    expect(await balance(await tokenNamed("later"))).toMatchObject(refused);
  });

  test("a revocation of a token closes the sockets of the agent, which can sign in again with another token", async () => {
    const device = await t.connectDevice(agent, await tokenNamed("lost"));
    await revoke("lost");
    expect(await device.closed).toMatchObject({ code: 4401 });
    await t.connectDevice(agent);
  });

  test("the relay accepts another agent's token with the same id", async () => {
    const other = await t.createAgent();
    await t.as(other, "POST", pathOf(other, "revoke-tokens"), { jtis: ["lost"] });
    expect(await balance(await tokenNamed("lost"))).toMatchObject({ status: 200 });
  });

  test("a revocation is stored over a restart until the token would have expired", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-tokens-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env);
    const owner = await before.createAgent();
    await before.as(owner, "POST", pathOf(owner, "revoke-tokens"), { jtis: ["lost"] });
    await before.close();
    const after = await startTestRelay(env, 2);
    await after.clock.advance(limits.tokenLifetimeMs + limits.clockSkewMs - 1);
    await after.relay.tick();
    const lost = await mintToken({
      ...owner,
      audience: after.did,
      scope: scopes,
      now: after.clock.now(),
      jti: "lost",
    });
    const path = pathOf(owner, "balance");
    expect(await after.request("GET", path, { token: lost })).toMatchObject(refused);
    await after.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["no ids", []],
    ["ids that are not texts", [1]],
    ["more ids than one request may contain", Array.from({ length: 101 }, String)],
  ])("the relay refuses a revocation of %s", async (_, jtis) => {
    const reply = await t.as(agent, "POST", pathOf(agent, "revoke-tokens"), { jtis });
    expect(reply).toMatchObject({ status: 400, body: { code: "request.invalid" } });
  });
});

describe("Single-use operations", () => {
  const rotate = (token: string) => {
    const { succession } = createRotation(t, agent);
    const path = pathOf(agent, "rotate-key");
    return t.request("POST", path, { token, body: { succession } });
  };
  const revokeOne = (token: string) =>
    t.request("POST", pathOf(agent, "revoke-tokens"), { token, body: { jtis: [randomUUID()] } });

  test("the relay accepts a token once for any single-use operation, and repeatedly for all others", async () => {
    const token = await tokenNamed("once");
    expect(await revokeOne(token)).toMatchObject({ status: 200 });
    const used = { status: 401, body: { code: "auth.token_used" } };
    expect(await revokeOne(token)).toMatchObject(used);
    expect(await rotate(token)).toMatchObject(used);
    expect(await balance(token)).toMatchObject({ status: 200 });
    expect(await balance(token)).toMatchObject({ status: 200 });
  });

  test("the relay accepts only one of two concurrent requests with the same token", async () => {
    const token = await tokenNamed("once");
    const both = await Promise.all([revokeOne(token), revokeOne(token)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  });

  test("a token stays unused after a malformed request or one for another agent", async () => {
    const token = await tokenNamed("once");
    const path = pathOf(agent, "revoke-tokens");
    expect(await t.request("POST", path, { token, body: {} })).toMatchObject({ status: 400 });
    const other = pathOf(await t.createAgent(), "revoke-tokens");
    const body = { jtis: ["1"] };
    expect(await t.request("POST", other, { token, body })).toMatchObject({ status: 403 });
    expect(await revokeOne(token)).toMatchObject({ status: 200 });
  });

  test("the relay accepts the operator's token repeatedly", async () => {
    expect(await revokeOne(OPERATOR_TOKEN)).toMatchObject({ status: 200 });
    expect(await revokeOne(OPERATOR_TOKEN)).toMatchObject({ status: 200 });
  });
});

describe("Revoked agents", () => {
  const revoke = (by: TestAgent) => t.as(by, "POST", pathOf(by, "revoke"), { reason: "lost" });

  test("the relay refuses all tokens and devices of a revoked agent and closes its sockets", async () => {
    const phone = await createPairedDevice(t, agent);
    const socket = await t.connectDevice(phone);
    const kept = await t.token(agent);
    await balance(kept);
    expect(await revoke(agent)).toMatchObject({ status: 200, body: { revoked: true } });
    expect(await socket.closed).toMatchObject({ code: 4401 });
    const refused = { status: 403 };
    expect(await balance(kept)).toMatchObject(refused);
    expect(await t.as(phone, "GET", pathOf(agent, "devices"))).toMatchObject(refused);
  });

  test("the relay hides a revoked agent from discovery and routing, but shows its key chain", async () => {
    const worker = await t.createWorker(1);
    const boss = await createBuyer(t, 10);
    await revoke(worker);
    const found = await t.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
    expect(found.body["agents"]).toEqual([]);
    const path = pathOf(worker, "listing");
    expect(await t.request("GET", path)).toMatchObject({ status: 404 });
    const routed = await submitTask(t, boss, await t.createAgent(), {
      required_capabilities: ["summarise"],
    });
    expect(routed.body).toMatchObject({ routing_choice: null });
    const chain = await t.request("GET", pathOf(worker, "succession"));
    expect(chain.body).toMatchObject({ current_public_key: worker.publicKey });
  });

  test("the relay refuses to bind, register, list or rotate a revoked agent", async () => {
    await revoke(agent);
    const { agentId: agent_id, publicKey: public_key } = agent;
    const refused = { status: 403, body: { code: "agent.revoked" } };
    const body = { agent_id, public_key };
    expect(await t.request("POST", "/api/v1/agents/bootstrap", { body })).toMatchObject(refused);
    const offer = { endpoint_url: "https://a.example", capabilities: ["summarise"] };
    const registration = { agent_id, ...offer };
    expect(await t.asOperator("POST", "/api/v1/agents/register", registration)).toMatchObject(
      refused,
    );
    expect(await t.asOperator("POST", pathOf(agent, "listing"), offer)).toMatchObject(refused);
    const { succession } = createRotation(t, agent);
    const path = pathOf(agent, "rotate-key");
    expect(await t.asOperator("POST", path, { succession })).toMatchObject(refused);
  });

  test("the time of the first revocation is kept", async () => {
    const { body: first } = await revoke(agent);
    await t.advance(1_000);
    const again = await t.asOperator("POST", pathOf(agent, "revoke"));
    expect(again).toMatchObject({ status: 200, body: first });
  });
});

describe("An agent's devices", () => {
  test("the relay lists devices with their scopes, page by page", async () => {
    const phone = await createPairedDevice(t, agent, ["task:read"]);
    const first = await t.as(agent, "GET", pathOf(agent, "devices?limit=1"));
    expect(first.body).toMatchObject({
      devices: [{ device_id: agent.deviceId, scopes: [...scopes], revoked: false }],
    });
    const cursor = String(first.body["next_cursor"]);
    const next = await t.as(agent, "GET", pathOf(agent, `devices?limit=1&cursor=${cursor}`));
    expect(next.body).toMatchObject({
      devices: [
        {
          device_id: phone.deviceId,
          device_name: "a phone",
          public_key: phone.publicKey,
          scopes: ["task:read"],
        },
      ],
    });
  });

  test("OB2: a device needs no scope to end itself, and cannot end another device", async () => {
    const [browser, laptop] = [
      await createPairedDevice(t, agent, ["task:read"]),
      await createPairedDevice(t, agent, ["task:read"]),
    ];
    const end = (ended: TestAgent) =>
      t.as(browser, "DELETE", pathOf(agent, `devices/${ended.deviceId}`));
    const scopeMissing = { status: 403, body: { code: "auth.scope_missing" } };
    expect(await end(laptop)).toMatchObject(scopeMissing);
    expect(await end(browser)).toMatchObject({ status: 200, body: { revoked: true } });
    const refused = { status: 403, body: { code: "auth.device_not_authorized" } };
    expect(await t.as(browser, "GET", pathOf(agent, "devices"))).toMatchObject(refused);
    expect(await t.as(laptop, "GET", pathOf(agent, "devices"))).toMatchObject({ status: 200 });
  });

  test("a revocation of a device ends its tokens and sockets, but not those of other devices", async () => {
    const [phone, laptop] = [
      await createPairedDevice(t, agent),
      await createPairedDevice(t, agent),
    ];
    const [lost, kept] = [await t.connectDevice(phone), await t.connectDevice(laptop)];
    const path = pathOf(agent, `devices/${phone.deviceId}`);
    expect(await t.as(agent, "DELETE", path)).toMatchObject({ status: 200 });
    expect(await lost.closed).toMatchObject({ code: 4401 });
    const refused = { status: 403, body: { code: "auth.device_not_authorized" } };
    expect(await t.as(phone, "GET", pathOf(agent, "devices"))).toMatchObject(refused);
    kept.send({ type: "ping" });
    await kept.next("pong");
    const shown = await t.asOperator("GET", `/api/v1/devices/${phone.deviceId}`);
    expect(shown.body).toMatchObject({ revoked: true });
  });
});
