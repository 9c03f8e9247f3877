import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { completeTaskOfPeer, relayTask } from "../../test/contract/operator/federation.ts";
import { readStored } from "../../test/engine/stored.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { listPeers } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const PEERS_PATH = "/api/v1/admin/federation/peers";
const HOUR_MS = 3_600_000;

let folder: string;
let t: TestRelay;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "unused-peers-"));
  t = await startTestRelay({
    AGENT_DB_PATH: join(folder, "here.db"),
    AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test",
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    // The retention of tasks does not matter for peers that never had one.
    AGENT_RETENTION_DAYS: "0",
  });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

async function leave(peer: FakePeer): Promise<void> {
  await t.clock.advance(1);
  expect(await peer.remove()).toMatchObject({ status: 200 });
}

async function pass(ms: number): Promise<void> {
  await t.clock.advance(ms);
  await t.relay.tick();
}

const listIds = async () => (await listPeers(t)).map(({ relay_id }) => relay_id);

describe("FE34: a removed peer to which nothing refers", () => {
  test("FE34: strangers that become peers and leave again are deleted after an hour, with their witnesses", async () => {
    for (let count = 0; count < 5; count += 1) {
      const peer = await createFakePeer(t).completeHandshake();
      await leave(peer);
      await pass(60_000);
    }
    expect(await listIds()).toHaveLength(5);
    await pass(2 * HOUR_MS);
    expect(await listIds()).toEqual([]);
    expect(
      await readStored(join(folder, "here.db"), "select relay_id from peer_witnesses"),
    ).toEqual([]);
  });

  test("FE34: a peer that left returns after its deletion by a handshake, with the credit of a new peer", async () => {
    const peer = await createFakePeer(t).completeHandshake();
    await leave(peer);
    await pass(2 * HOUR_MS);
    await peer.completeHandshake();
    expect(await listPeers(t)).toMatchObject([{ state: "active", credit_limit: 1_000 }]);
  });

  test("FE34: a notice of a deleted peer ends no later peering, because it is too old", async () => {
    const peer = await createFakePeer(t).completeHandshake();
    await t.clock.advance(1);
    const noticeAt = peer.nextNoticeTime();
    expect(await peer.remove(noticeAt)).toMatchObject({ status: 200 });
    await pass(2 * HOUR_MS);
    await peer.completeHandshake();
    expect(await peer.remove(noticeAt)).toMatchObject({
      status: 403,
      body: { code: "federation.timestamp_expired" },
    });
  });
});

describe("FE34: a removed peer is kept", () => {
  const keeps: readonly [string, (peer: FakePeer) => Promise<unknown>][] = [
    ["while its task is stored, even a free one", (peer) => orderFree(peer)],
    ["that owes money", (peer) => completeTaskOfPeer(t, peer)],
    ["that the operator has paid", (peer) => settle(peer)],
    ["whose limit the operator has set", (peer) => setCredit(peer)],
    [
      "that the operator removed",
      (peer) => t.asOperator("DELETE", `${PEERS_PATH}/${peer.relayId}`),
    ],
  ];
  test.each(keeps)("FE34: a removed peer is kept %s", async (_, use) => {
    const peer = await createFakePeer(t).completeHandshake();
    await use(peer);
    await t.clock.advance(1);
    await peer.remove();
    await pass(2 * HOUR_MS);
    expect(await listPeers(t)).toMatchObject([{ relay_id: peer.relayId, state: "removed" }]);
  });

  test("FE34: a removed peer is kept that was sent a task, and an active one is kept", async () => {
    const { origin, next } = await relayTask(t);
    const idle = await createFakePeer(t).completeHandshake();
    await leave(next);
    await pass(HOUR_MS + 1);
    await idle.heartbeat();
    await pass(HOUR_MS);
    expect(await listIds()).toEqual(
      expect.arrayContaining([origin.relayId, next.relayId, idle.relayId]),
    );
  });
});

async function orderFree(peer: FakePeer): Promise<void> {
  const worker = await t.createWorker(0);
  const ordered = await peer.forward({
    target_agent: worker.agentId,
    public_key: worker.publicKey,
    budget: { amount: 0, currency: "USD" },
  });
  expect(ordered).toMatchObject({ status: 202 });
}

async function settle({ relayId }: FakePeer): Promise<void> {
  const payment = { amount: 1, direction: "received", reference: "wire 1" };
  const { status } = await t.asOperator("POST", `${PEERS_PATH}/${relayId}/settle`, payment);
  expect(status).toBe(200);
}

async function setCredit({ relayId }: FakePeer): Promise<void> {
  const { status } = await t.asOperator("PUT", `${PEERS_PATH}/${relayId}`, { credit_limit: 5 });
  expect(status).toBe(200);
}
