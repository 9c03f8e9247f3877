import { createRelayClient } from "@agent/client";
import { createServer } from "node:http";
import { once } from "node:events";
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

/** Finds the signer of a caller of this level, from the answers of a relay over HTTP. */
async function signerOf(level: string) {
  const server = createServer((request, response) => {
    const body = request.url?.includes("/devices/") ? device : record(level);
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const client = createRelayClient({
    baseUrl: `http://127.0.0.1:${port}`,
    identity: { masterToken: "operator" },
  });
  const membership = { client, deviceId: "own", relay: { relayId: "r", publicKey } };
  const find = createFindSigner({ agentId: self, membership: () => membership, runtime: Date });
  const signer = await find({ agentId, deviceId }, { isProven: false, network: "local" });
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
