import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { bootstrapAgent, createRelayClient } from "@agent/client";
import { startLoopbackServer } from "@agent/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { MASTER_TOKEN, startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createFindIssuerKey } from "./find-issuer-key.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

function lookups(baseUrl = relay.url) {
  let asked = 0;
  let now = 0;
  const client = createRelayClient({
    baseUrl,
    identity: { masterToken: MASTER_TOKEN },
    fetch(input, init) {
      asked++;
      return fetch(input, init);
    },
  });
  const membership = { client, deviceId: "d", relay: { relayId: "r", publicKey: "" } };
  const findKey = createFindIssuerKey({
    membership: () => membership,
    runtime: { now: () => now },
  });
  return { asked: () => asked, findKey, pass: (ms: number) => (now += ms) };
}

test("an issuer's key is fetched from the relay once a minute", async () => {
  const issuer = createTestIdentity();
  const { asked, findKey, pass } = lookups();
  expect(await findKey(issuer.agentId)).toEqual({ status: "unknown" });
  const runtime = createSystemRuntime(silentLog);
  await bootstrapAgent({ ...runtime, ...issuer, baseUrl: relay.url });
  expect(await findKey(issuer.agentId)).toEqual({ status: "found", value: issuer.publicKey });
  expect(await findKey(issuer.agentId)).toEqual({ status: "found", value: issuer.publicKey });
  expect(asked()).toBe(2);
  pass(60_000);
  await findKey(issuer.agentId);
  expect(asked()).toBe(3);
});

test("a revoked issuer has no key", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-issuers-"));
  const env = { AGENT_DB_PATH: join(folder, "relay.db") };
  const before = await startTestRelay(0, env);
  const issuer = createTestIdentity();
  await bootstrapAgent({ ...createSystemRuntime(silentLog), ...issuer, baseUrl: before.url });
  await before.stop();
  const db = new DatabaseSync(env.AGENT_DB_PATH);
  db.exec("UPDATE agents SET revoked_at = 1");
  db.close();
  const after = await startTestRelay(0, env);
  expect(await lookups(after.url).findKey(issuer.agentId)).toEqual({ status: "unknown" });
  await after.stop();
  rmSync(folder, { recursive: true });
});

test("E9: before the agent has joined its relay, no look-up of a key is final", async () => {
  const findKey = createFindIssuerKey({ membership: () => undefined, runtime: { now: Date.now } });
  expect(await findKey(createTestIdentity().agentId)).toMatchObject({ status: "unavailable" });
});

test("E9: a relay that refuses to answer does not make an issuer unknown", async () => {
  const busy = { code: "rate.exceeded", message: "", status: 429 };
  const server = await startLoopbackServer((_, response) => {
    response.writeHead(429, { "retry-after": "30" }).end(JSON.stringify(busy));
  });
  const { findKey } = lookups(server.url);
  const { agentId } = createTestIdentity();
  expect(await findKey(agentId)).toEqual({ status: "unavailable", retryAfterSeconds: 30 });
  await server.close();
  expect(await findKey(agentId)).toEqual({ status: "unavailable", retryAfterSeconds: 5 });
});
