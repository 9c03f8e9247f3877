import { createRelayClient } from "@agent/client";
import { startLoopbackServer } from "@agent/testkit";
import { afterEach, expect, test } from "vitest";
import { createFindSigner } from "./find-signer.ts";

const self = "019b7d21-53eb-7ccd-926c-000000000001";
const agentId = "019b7d21-53eb-7ccd-926c-000000000002";
const deviceId = "device";
const publicKey = "ab".repeat(32);

const device = {
  device_id: deviceId,
  agent_id: agentId,
  public_key: publicKey,
  did: "did:key:z",
  device_name: null,
  registered_at: 0,
  revoked: false,
};
const record = (trust_level: string) => ({
  agent_id: self,
  remote_agent_id: agentId,
  trust_level,
  first_seen_at: 0,
  last_seen_at: 0,
  interaction_count: 1,
  successful_tasks: 1,
  failed_tasks: 0,
  avg_latency_ms: null,
  trust_score: 0.5,
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Looks up callers at a relay over HTTP that answers with the result of `answer`. */
async function startLookups(answer: (path: string) => object | undefined, now = () => Date.now()) {
  const server = await startLoopbackServer((request, response) => {
    const body = answer(request.url ?? "");
    if (body === undefined) return void request.socket.destroy();
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  closing.push(server.close);
  const client = createRelayClient({
    baseUrl: server.url,
    identity: { masterToken: "operator" },
  });
  const membership = { client, deviceId: "own", relay: { relayId: "r", publicKey } };
  return createFindSigner({ agentId: self, membership: () => membership, runtime: { now } });
}

const origin = { isProven: false, address: "local" };

/** Finds the signer of a caller of this level. */
async function signerOf(level: string) {
  const find = await startLookups((path) => (path.includes("/devices/") ? device : record(level)));
  const signer = await find({ agentId, deviceId }, origin);
  if (signer.status !== "found") throw new Error(signer.status);
  const { publicKey: found, findCaller } = signer.value;
  return { publicKey: found, caller: await findCaller() };
}

test("a caller has the trust level of the agent's own record", async () => {
  const caller = { kind: "agent", agentId, trust: "verified" };
  expect(await signerOf("verified")).toEqual({
    publicKey,
    caller: { status: "found", value: caller },
  });
});

test("H17: a caller with an unknown trust level of a later version is not let in", async () => {
  expect(await signerOf("shunned")).toMatchObject({ caller: { status: "unavailable" } });
});

test("E8: a caller that was found stays for five minutes while it cannot be looked up again", async () => {
  let [now, isGone] = [1_000_000, false];
  const find = await startLookups(
    (path) => (isGone ? undefined : path.includes("/devices/") ? device : record("verified")),
    () => now,
  );
  const lookUp = async () => {
    const signer = await find({ agentId, deviceId }, origin);
    return signer.status === "found" ? (await signer.value.findCaller()).status : signer.status;
  };
  expect(await lookUp()).toBe("found");
  isGone = true;
  now += 299_999;
  expect(await lookUp()).toBe("found");
  now += 1;
  expect(await lookUp()).toBe("unavailable");
});

test("E8: a device that was revoked is not found again, also when the relay is gone later", async () => {
  let [now, answer]: [number, object | undefined] = [1_000_000, device];
  const find = await startLookups(
    (path) => (path.includes("/devices/") ? answer : record("verified")),
    () => now,
  );
  const lookUp = async () => (await find({ agentId, deviceId }, origin)).status;
  expect(await lookUp()).toBe("found");
  answer = { ...device, revoked: true };
  now += 60_000;
  expect(await lookUp()).toBe("unknown");
  answer = undefined;
  now += 60_000;
  expect(await lookUp()).toBe("unavailable");
});
