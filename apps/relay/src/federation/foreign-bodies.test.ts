import { createHeartbeat } from "@agent/federation-protocol/peering";
import { limits } from "@agent/wire";
import { expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startTestRelay } from "../../test/test-relay.ts";

const HEARTBEAT_PATH = "/federation/v1/peer/heartbeat";
const OTHER_RELAY_ID = "0199c800-0000-7000-8000-0000000000aa";

/** The signature does not cover the time in the header, so any relay with the body can send it later. */
test.each([
  ["for another relay", { to: OTHER_RELAY_ID }, "federation.wrong_receiver"],
  ["an hour ago", { ageMs: 3_600_000 }, "federation.timestamp_expired"],
])(
  "FE24: bodies that a peer signed %s do not use up its rate limit when another relay sends them",
  async (_, { to, ageMs = 0 }: { to?: string; ageMs?: number }, code) => {
    const t = await startTestRelay({
      AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test",
      AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
      AGENT_RATE_LIMIT_SCALE: "1",
    });
    const peer = await createFakePeer(t).completeHandshake();
    const notice = {
      relay_id: peer.relayId,
      timestamp: t.clock.now() - ageMs,
      agent_count: 0,
      to: to ?? t.relay.relayId,
    };
    const body = createHeartbeat(notice, peer.secretKey);
    for (let sent = 0; sent <= limits.federationRequests; sent += 1) {
      expect(await peer.post(HEARTBEAT_PATH, body)).toMatchObject({ status: 403, body: { code } });
    }
    expect(await peer.heartbeat()).toMatchObject({ status: 200 });
    await t.close();
  },
);

test("a query that has only the members of the specification is answered", async () => {
  const t = await startTestRelay({ AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test" });
  const worker = await t.createWorker(1);
  const peer = await createFakePeer(t).completeHandshake();
  const query = { capability: "summarise", hop_count: 0, max_hops: 3, visited: [peer.relayId] };
  const query_id = "0199c800-0000-7000-8000-0000000000c1";
  expect(await peer.post("/federation/v1/discover", { ...query, query_id })).toMatchObject({
    status: 200,
    body: { agents: [{ agent_id: worker.agentId }] },
  });
  await t.close();
});
