import { bootstrapAgent, createRelayClient } from "@agent/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { systemRuntime } from "../runtime.ts";
import { newIdentity } from "../testing/identity.ts";
import { startRelay, type TestRelay } from "../testing/relay.ts";
import { createIssuerKeys } from "./issuer-keys.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay.stop());

function lookups() {
  let asked = 0;
  let now = 0;
  const client = createRelayClient({
    baseUrl: relay.url,
    identity: { masterToken: "any" },
    fetch(input, init) {
      asked++;
      return fetch(input, init);
    },
  });
  const membership = { client, deviceId: "d", relay: { relayId: "r", publicKey: "" } };
  const keysOf = createIssuerKeys({ membership: () => membership, runtime: { now: () => now } });
  return { asked: () => asked, keysOf, pass: (ms: number) => (now += ms) };
}

test("an issuer's key is asked of the relay once a minute", async () => {
  const issuer = newIdentity();
  const { asked, keysOf, pass } = lookups();
  expect(await keysOf(issuer.agentId)).toEqual([]);
  const runtime = systemRuntime(silentLog);
  await bootstrapAgent({ ...runtime, ...issuer, baseUrl: relay.url });
  expect(await keysOf(issuer.agentId)).toEqual([issuer.publicKey]);
  expect(await keysOf(issuer.agentId)).toEqual([issuer.publicKey]);
  expect(asked()).toBe(2);
  pass(60_000);
  await keysOf(issuer.agentId);
  expect(asked()).toBe(3);
});

test("no issuer is known without a relay", async () => {
  const keysOf = createIssuerKeys({ membership: () => undefined, runtime: { now: Date.now } });
  expect(await keysOf(newIdentity().agentId)).toEqual([]);
});
