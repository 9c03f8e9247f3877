import { createHeartbeat } from "@agent/federation-protocol/peering";
import { signAnswer } from "@agent/federation-protocol/signing";
import { afterEach, describe, expect, test } from "vitest";
import {
  completeTaskOfPeer,
  federated,
  forwardTaskToPeer,
  relayTask,
} from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { startNetwork, waitUntil, getPeer } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const own = [
  "relayed",
  "position",
  "signed_accepted",
  "cancel",
  "agent_succession",
  "cancel_notice",
];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(): Promise<TestRelay> {
  const t = await startTestRelay(federated);
  closing.push(() => t.close());
  return t;
}

async function advanceHeartbeat(t: TestRelay): Promise<void> {
  await t.clock.advance(60_000);
  await t.relay.tick();
}

describe("H18: relays of this version", () => {
  test("relays of this version name their features in the identity, the discovery document and each heartbeat", async () => {
    const t = await start();
    const identity = await t.request("GET", "/federation/v1/identity");
    expect(identity.body).toMatchObject({ features: own, incarnation: 0 });
    const info = await t.request("GET", "/.well-known/agent-relay.json");
    expect(info.body["features"]).toEqual(expect.arrayContaining(["federation", ...own]));
    const { body, headers } = await (await createFakePeer(t).completeHandshake()).heartbeat();
    expect(body).toMatchObject({ features: own, incarnation: 0 });
    expect(headers.get("x-relay-signature")).not.toBeNull();
  });

  test("relays of this version know each other's features from the handshake on, before any heartbeat", async () => {
    const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
    closing.push(() => network.close());
    for (const site of network.sites) expect(await getPeer(site)).toMatchObject({ features: own });
  });
});

describe("H18: a peer of the previous version", () => {
  test("a peer of the previous version gets answers of its version: no position, and an unsigned acceptance", async () => {
    const t = await start();
    const { peer, receipt, listening } = await forwardTaskToPeer(t);
    closing.push(() => listening.close());
    expect(await getPeer(t)).toMatchObject({ features: [], incarnation: 0 });
    expect((await peer.heartbeat()).body).not.toHaveProperty("position");
    const reply = await peer.post("/federation/v1/task/result", peer.createResult(receipt));
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ status: "accepted" });
  });

  test("a peer of the previous version stays active, because its plain heartbeats and answers count", async () => {
    const t = await start();
    const listening = await answerer(t, (peer, timestamp) => plain(peer, t, timestamp));
    await advanceHeartbeat(t);
    await waitUntil(
      async () => (await getPeer(t)).last_heartbeat_at === t.clock.now(),
      "an answer",
    );
    expect(await getPeer(t)).toMatchObject({ state: "active", missed_heartbeats: 0, features: [] });
    expect(listening.requests.some(({ path }) => path.endsWith("/heartbeat"))).toBe(true);
  });

  test.each([
    ["that does not name relayed is not shown the forward of an earlier relay", [], false],
    ["that names relayed is shown the forward of an earlier relay", ["relayed"], true],
  ])("H18: a next relay %s", async (_, features, isShown) => {
    const { passed } = await relayTask(await start(), undefined, {}, features);
    expect("relayed" in passed).toBe(isShown);
  });

  test("H18: a task at a peer of the previous version is not cancelled and ends by expiry", async () => {
    const t = await start();
    const { boss, task, listening } = await forwardTaskToPeer(t);
    closing.push(() => listening.close());
    const path = `/agent/${boss.agentId}/task/${task.task_id}`;
    expect((await t.as(boss, "POST", `${path}/cancel`)).status).toBe(202);
    const hasReceived = (end: string) =>
      listening.requests.some((request) => request.path.endsWith(end));
    await advanceHeartbeat(t);
    await waitUntil(() => hasReceived("/peer/heartbeat"), "a later request");
    expect(hasReceived("/task/cancel")).toBe(false);
    expect((await t.as(boss, "GET", path)).body).toMatchObject({ task: { status: "claimed" } });
    await waitUntil(async () => {
      await advanceHeartbeat(t);
      return (await t.as(boss, "GET", path)).status === 404;
    }, "the task expires");
    expect(await t.getBalance(boss)).toBe(10);
  });

  test.each([
    ["from a peer of the previous version counts and is not logged", [], 0],
    ["from a peer that names signed_accepted counts, but is logged", ["signed_accepted"], 1],
  ])("H18: an unsigned acceptance of a result %s", async (_, features, missed) => {
    const t = await start();
    const listening = await startListeningPeer(({ path }) =>
      path.endsWith("/task/result") ? { status: "accepted" } : {},
    );
    closing.push(() => listening.close());
    const peer = await createFakePeer(t, listening.url).completeHandshake({ features });
    await completeTaskOfPeer(t, peer);
    const returned = () => t.listLogged("federation.result.returned");
    await waitUntil(() => returned().length > 0, "an answer");
    expect(returned()).toMatchObject([{ state: "completed" }]);
    expect(t.listLogged("federation.accepted_unsigned")).toHaveLength(missed);
  });

  test.each([
    ["without the settlement", [], false],
    ["that names position, with the settlement", ["position"], true],
  ])(
    "H18: a repeated result of a settled task is answered to a peer %s",
    async (_, features, isRepeated) => {
      const t = await start();
      const version = { features, books: true };
      const { peer, receipt, listening } = await forwardTaskToPeer(t, 1, undefined, version);
      closing.push(() => listening.close());
      const send = () => peer.post("/federation/v1/task/result", peer.createResult(receipt));
      expect(await send()).toMatchObject({ status: 200 });
      // The amount of a pending settlement is reserved.
      await waitUntil(async () => (await getPeer(t)).reserved === 0, "the settlement is booked");
      const again = await send();
      expect(again).toMatchObject({ status: 200, body: { status: "accepted" } });
      expect("settlement" in again.body).toBe(isRepeated);
    },
  );

  test("a peer that no longer names its features after a downgrade loses them", async () => {
    const t = await start();
    const peer = await createFakePeer(t).completeHandshake();
    await peer.heartbeat(undefined, { features: own, incarnation: 5 });
    expect(await getPeer(t)).toMatchObject({ features: own, incarnation: 5 });
    await peer.heartbeat();
    expect(await getPeer(t)).toMatchObject({ features: [], incarnation: 5 });
  });
});

describe("H18: the features of an answer to a heartbeat", () => {
  test("the features of an answer are accepted under the signature over the whole answer", async () => {
    const t = await start();
    await answerer(t, (peer, timestamp) => ({ ...plain(peer, t, timestamp), features: own }), true);
    await advanceHeartbeat(t);
    await waitUntil(async () => (await getPeer(t)).features !== undefined, "an answer");
    await waitUntil(
      async () => (await getPeer(t)).last_heartbeat_at === t.clock.now(),
      "an answer",
    );
    expect(await getPeer(t)).toMatchObject({ features: own });
  });

  test("the features of an answer without that signature are ignored, but the answer counts as a heartbeat", async () => {
    const t = await start();
    await answerer(t, (peer, timestamp) => ({ ...plain(peer, t, timestamp), features: own }));
    await advanceHeartbeat(t);
    await waitUntil(
      async () => (await getPeer(t)).last_heartbeat_at === t.clock.now(),
      "an answer",
    );
    expect(await getPeer(t)).toMatchObject({ state: "active", features: [] });
  });
});

test("H18: the features of a heartbeat that names no receiver are ignored", async () => {
  const t = await start();
  const peer = await createFakePeer(t).completeHandshake();
  expect(await peer.heartbeat(undefined, { features: own, to: undefined })).toMatchObject({
    status: 200,
  });
  expect(await getPeer(t)).toMatchObject({ features: [] });
});

/** Builds a heartbeat of the previous version. */
function plain({ relayId, secretKey }: FakePeer, t: TestRelay, timestamp: number) {
  const body = { relay_id: relayId, timestamp, agent_count: 0, to: t.relay.relayId };
  return createHeartbeat(body, secretKey);
}

/** Starts a listening peer of `t` that answers heartbeats with a given body. */
async function answerer(
  t: TestRelay,
  answer: (peer: FakePeer, timestamp: number) => object,
  signs = false,
): Promise<ListeningPeer> {
  let peer: FakePeer | undefined;
  const listening = await startListeningPeer(({ path }, response) => {
    if (peer === undefined || !path.endsWith("/heartbeat")) return {};
    const body = answer(peer, t.clock.now() + 1);
    if (signs) response.setHeader("x-relay-signature", signAnswer(body, peer.secretKey));
    return body;
  });
  closing.push(() => listening.close());
  peer = await createFakePeer(t, listening.url).completeHandshake();
  return listening;
}
