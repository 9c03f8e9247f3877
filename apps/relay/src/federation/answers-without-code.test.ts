import { expect, test } from "vitest";
import { federated } from "../../test/contract/operator/federation.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import { waitUntil, listPeers } from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";

test.each<[string, object, string]>([
  [
    "without a code suspend the peer, because they come from a proxy",
    { error: "Gone" },
    "suspended",
  ],
  ["with a code do not suspend the peer", { code: "forward.agent_not_found" }, "active"],
])("FE27: six refusals of forwarded tasks %s", async (_, refusal, state) => {
  const t = await startTestRelay(federated);
  const worker = t.createUnknownAgent();
  const { agentId: agent_id, publicKey: public_key } = worker;
  const agent = { agent_id, public_key, capabilities: ["summarise"], availability: 1, trust: 1 };
  const listening = await startListeningPeer(({ path }, response) => {
    if (path.endsWith("/discover")) return { agents: [agent] };
    if (path.endsWith("/identity")) return {};
    response.writeHead(404, { "content-type": "application/json" });
    response.end(JSON.stringify(refusal));
    return undefined;
  });
  const { relayId } = await createFakePeer(t, listening.url).completeHandshake();
  const boss = await t.createAgent();
  for (let sent = 1; sent <= 6; sent += 1) {
    const body = { prompt: "work", required_capabilities: ["summarise"] };
    await t.as(boss, "POST", `/agent/${boss.agentId}/task`, body);
    await waitUntil(() => t.listLogged("federation.task.forward").length === sent, "a forward");
  }
  const findPeer = async () => (await listPeers(t)).find(({ relay_id }) => relay_id === relayId);
  await waitUntil(async () => (await findPeer())?.forwards?.latest === 6, "all are counted");
  expect(await findPeer()).toMatchObject({ state });
  await listening.close();
  await t.close();
});
