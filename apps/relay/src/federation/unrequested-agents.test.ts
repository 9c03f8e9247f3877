import { afterEach, beforeEach, expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const TRANSLATOR = "0199c800-0000-7000-8000-0000000000b1";
const PAINTER = "0199c800-0000-7000-8000-0000000000b2";

let t: TestRelay;
let server: ListeningPeer;

/** A peer that answers every query with both of its agents. */
beforeEach(async () => {
  t = await startTestRelay({ AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test" });
  const publicKey = t.createUnknownAgent().publicKey;
  const entry = (agent_id: string, capability: string) => ({
    agent_id,
    public_key: publicKey,
    capabilities: ["chat", capability],
    cost: 0,
    availability: 1,
  });
  const agents = [entry(TRANSLATOR, "translate"), entry(PAINTER, "paint")];
  server = await startListeningPeer(() => ({ agents }));
  await createFakePeer(t, server.url).completeHandshake();
});
afterEach(async () => {
  await t.close();
  await server.close();
});

/** Lists the ids that a search finds. */
async function discover(search: string): Promise<unknown[]> {
  const { body } = await t.as(await t.createAgent(), "GET", `/api/v1/agents/discover${search}`);
  const { agents } = body as { agents: { agent_id: string; source_relay: string }[] };
  return agents
    .filter((agent) => agent.source_relay !== t.relay.relayId)
    .map((one) => one.agent_id);
}

test("discovery shows only those agents of a peer that have the capability, whatever the peer answers", async () => {
  expect(await discover("?capability=translate")).toEqual([TRANSLATOR]);
  expect(await discover("?capability=sculpt")).toEqual([]);
  expect(await discover("?capability=chat")).toEqual([TRANSLATOR, PAINTER]);
  expect(await discover("")).toEqual([TRANSLATOR, PAINTER]);
});

test("a relay in the middle passes on only agents that have the capability", async () => {
  const asking = await createFakePeer(t).completeHandshake();
  const query = { capability: "paint", hop_count: 0, max_hops: 3, visited: [asking.relayId] };
  const query_id = "0199c800-0000-7000-8000-0000000000c1";
  const { body } = await asking.post("/federation/v1/discover", {
    ...query,
    query_id,
    origin_relay: asking.relayId,
  });
  expect(body).toMatchObject({ agents: [{ agent_id: PAINTER }] });
  expect(body["agents"]).toHaveLength(1);
});
