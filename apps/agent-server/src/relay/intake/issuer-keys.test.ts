import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { bootstrapAgent, createRelayClient } from "@agent/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { MASTER_TOKEN, startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createGetIssuerKeys } from "./issuer-keys.ts";

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
  const keysOf = createGetIssuerKeys({ membership: () => membership, runtime: { now: () => now } });
  return { asked: () => asked, keysOf, pass: (ms: number) => (now += ms) };
}

test("an issuer's key is fetched from the relay once a minute", async () => {
  const issuer = createTestIdentity();
  const { asked, keysOf, pass } = lookups();
  expect(await keysOf(issuer.agentId)).toEqual([]);
  const runtime = createSystemRuntime(silentLog);
  await bootstrapAgent({ ...runtime, ...issuer, baseUrl: relay.url });
  expect(await keysOf(issuer.agentId)).toEqual([issuer.publicKey]);
  expect(await keysOf(issuer.agentId)).toEqual([issuer.publicKey]);
  expect(asked()).toBe(2);
  pass(60_000);
  await keysOf(issuer.agentId);
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
  expect(await lookups(after.url).keysOf(issuer.agentId)).toEqual([]);
  await after.stop();
  rmSync(folder, { recursive: true });
});

test("without a relay no issuer has a key", async () => {
  const keysOf = createGetIssuerKeys({ membership: () => undefined, runtime: { now: Date.now } });
  expect(await keysOf(createTestIdentity().agentId)).toEqual([]);
});
