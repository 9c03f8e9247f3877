import { bytesToHex, fromBase64Url, hexToBytes, verify } from "@agent/crypto";
import type { FederationPeer } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createQuery,
  suspend,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../../test/network/listening-peer.ts";
import { waitUntil } from "../../../test/network/network.ts";
import type { Reply, TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

describe("heartbeats", () => {
  test.each<[string, string, () => Promise<Reply>]>([
    [
      "under another key",
      "federation.signature_invalid",
      () => peer.heartbeat(undefined, { signature: "A".repeat(86) }),
    ],
    [
      "from the future",
      "federation.timestamp_expired",
      () => peer.heartbeat(t.clock.now() + 300_001),
    ],
    [
      "from the past",
      "federation.timestamp_expired",
      () => peer.heartbeat(t.clock.now() - 300_001),
    ],
  ])("FE19: heartbeats %s are refused", async (_, code, attempt) => {
    await expectHarmless(t, code, attempt);
  });

  test("FE19: a peer is suspended by 3 missed heartbeats, revived by a valid one, and removed by 5 missed ones", async () => {
    const stateNow = async () => {
      const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
      const peers = body["peers"] as { relay_id: string; state: string }[];
      return peers.find(({ relay_id }) => relay_id === peer.relayId)?.state;
    };
    await suspend(t, peer);
    expect(await stateNow()).toBe("suspended");
    expect(t.listLogged("federation.heartbeat.missed").map((line) => line["missed"])).toEqual([
      1, 2, 3,
    ]);
    expect(t.listLogged("federation.peer.suspended")).toMatchObject([
      { service: "federation", relay_id: peer.relayId },
    ]);
    expect((await peer.post(`${BASE_PATH}/discover`, createQuery(peer))).body).toMatchObject({
      code: "peer.suspended",
    });
    expect(await peer.heartbeat()).toMatchObject({ status: 200 });
    expect(await stateNow()).toBe("active");
    await suspend(t, peer);
    for (const left of ["suspended", "removed"]) {
      await t.clock.advance(60_000);
      await t.relay.tick();
      await waitUntil(async () => (await stateNow()) === left || left === "suspended");
    }
    await waitUntil(async () => (await stateNow()) === "removed", "the peer is removed");
    expect((await peer.heartbeat()).body).toMatchObject({ code: "federation.signature_invalid" });
  });
});

test("FE19: six failed forwards suspend a peer until its next heartbeat", async () => {
  const worker = t.createUnknownAgent();
  const listening = await startListeningPeer(({ path }) =>
    path.endsWith("/discover")
      ? {
          agents: [
            {
              agent_id: worker.agentId,
              public_key: worker.publicKey,
              capabilities: ["summarise"],
              availability: 1,
              trust: 1,
            },
          ],
        }
      : undefined,
  );
  const broken = await createFakePeer(t, listening.url).completeHandshake();
  const boss = await t.createAgent();
  for (let sent = 1; sent <= 6; sent += 1) {
    await t.as(boss, "POST", `/agent/${boss.agentId}/task`, {
      prompt: "work",
      required_capabilities: ["summarise"],
    });
    await waitUntil(() => t.listLogged("federation.task.forward").length === sent, "a forward");
  }
  await waitUntil(
    () => t.listLogged("federation.peer.suspended").length === 1,
    "the peer is suspended",
  );
  const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
  const shown = (body["peers"] as FederationPeer[]).find(
    ({ relay_id }) => relay_id === broken.relayId,
  );
  expect(shown).toMatchObject({ state: "suspended", forwards: { latest: 6, failed: 6 } });
  expect(await broken.heartbeat()).toMatchObject({ status: 200 });
  expect(t.listLogged("federation.peer.active").at(-1)).toMatchObject({ relay_id: broken.relayId });
  await listening.close();
});

test("FE20: the signed text of a heartbeat, an id of 36 characters and a number, is never that of another message", async () => {
  const { body } = await peer.heartbeat();
  const { relay_id, timestamp, signature } = body as Record<string, string>;
  const text = `${relay_id}${timestamp}`;
  const identity = (await t.request("GET", `${BASE_PATH}/identity`)).body;
  const key = hexToBytes(String(identity["public_key"]));
  expect(bytesToHex(key)).toHaveLength(64);
  expect(verify(fromBase64Url(String(signature)), text, key)).toBe(true);
  expect(text).toMatch(/^[0-9a-f-]{36}\d+$/);
  await expectHarmless(t, "request.invalid", () =>
    peer.heartbeat(undefined, { relay_id: "short" }),
  );
});
