import { createHeartbeat } from "@agent/federation-protocol/peering";
import { afterEach, describe, expect, test } from "vitest";
import { completeTaskOfPeer } from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { waitUntil } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

/** An answer that a proxy gives in place of the peer while the peer is being upgraded. */
const PAGE = "<html><body>default backend</body></html>";

let t: TestRelay;
let server: ListeningPeer;
let peer: FakePeer;
/** The status with which a proxy answers; undefined if the peer itself answers. */
let proxyStatus: number | undefined;

afterEach(async () => {
  await t.close();
  await server.close();
});

async function start(): Promise<void> {
  t = await startTestRelay({
    AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test",
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
  });
  let notices = 0;
  server = await startListeningPeer(({ path }, response) => {
    if (path.endsWith("/peer/heartbeat")) {
      notices += 1;
      const timestamp = t.clock.now() + notices;
      const notice = { relay_id: peer.relayId, timestamp, agent_count: 0, to: t.relay.relayId };
      return createHeartbeat(notice, peer.secretKey);
    }
    if (proxyStatus === undefined) return { status: "accepted" };
    response.writeHead(proxyStatus, { "content-type": "text/html" });
    return void response.end(PAGE);
  });
  peer = await createFakePeer(t, server.url).completeHandshake();
}

const sentResults = () => server.requests.filter(({ path }) => path.endsWith("/task/result"));
const statesOfReturn = () =>
  t.listLogged("federation.result.returned").map(({ state }) => state as string);

describe("an answer of a proxy in place of a peer", () => {
  test.each([400, 404, 410, 413, 200])(
    "a result that a proxy answered with a page and the status %i is sent to the peer again",
    async (status) => {
      proxyStatus = status;
      await start();
      await completeTaskOfPeer(t, peer);
      await waitUntil(() => statesOfReturn().length === 1, "the proxy has answered");
      expect(statesOfReturn()).toEqual(["returning"]);
      proxyStatus = undefined;
      await t.clock.advance(30_000);
      await t.relay.tick();
      await waitUntil(() => statesOfReturn().length === 2, "the peer has answered");
      expect(statesOfReturn()).toEqual(["returning", "completed"]);
      expect(sentResults()).toHaveLength(2);
    },
  );
});
