import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { federated, suspend } from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import {
  closeSites,
  startNetwork,
  startTwoSites,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const PEERS_PATH = "/api/v1/admin/federation/peers";

interface Shown {
  readonly relay_id: string;
  readonly state: string;
  readonly credit_limit: number;
}

const shown = async (t: Pick<TestRelay, "asOperator">, relayId: string) => {
  const { body } = await t.asOperator("GET", PEERS_PATH);
  const peer = (body["peers"] as Shown[]).find(({ relay_id }) => relay_id === relayId);
  return peer && { state: peer.state, credit: peer.credit_limit };
};
const remove = (t: Pick<TestRelay, "asOperator">, relayId: string) =>
  t.asOperator("DELETE", `${PEERS_PATH}/${relayId}`);
const setCredit = (t: Pick<TestRelay, "asOperator">, relayId: string, credit_limit: number) =>
  t.asOperator("PUT", `${PEERS_PATH}/${relayId}`, { credit_limit });

describe("A3: a peer that the operator removed", () => {
  let t: TestRelay;
  let peer: FakePeer;
  const start = async (env: Record<string, string> = {}) => {
    t = await startTestRelay({ ...federated, ...env });
    peer = await createFakePeer(t).completeHandshake();
    await setCredit(t, peer.relayId, 70);
  };
  beforeEach(() => start());
  afterEach(() => t.close());

  const expectShut = async () => {
    const before = await shown(t, peer.relayId);
    expect(before?.state).toBe("removed");
    await t.clock.advance(1);
    expect(await peer.propose()).toMatchObject({
      status: 403,
      body: { code: "federation.peer_removed" },
    });
    for (const attempt of [() => peer.heartbeat(), () => peer.remove(), () => peer.forward()]) {
      expect(await attempt()).toMatchObject({ body: { code: "federation.signature_invalid" } });
    }
    expect(await shown(t, peer.relayId)).toEqual(before);
  };

  test("a peer that the operator removed is refused when it proposes, and is shown as removed with a credit of 0", async () => {
    expect(await remove(t, peer.relayId)).toMatchObject({ status: 200 });
    expect(await shown(t, peer.relayId)).toEqual({ state: "removed", credit: 0 });
    await expectShut();
  });

  test("a peer that the operator removed stays removed when the operator sets its credit limit", async () => {
    await remove(t, peer.relayId);
    expect(await setCredit(t, peer.relayId, 5)).toMatchObject({
      status: 200,
      body: { state: "removed", credit_limit: 5 },
    });
    await expectShut();
  });

  test("a peer that the operator removed is refused when it confirms a proposal that is older than the removal", async () => {
    await peer.remove();
    await t.clock.advance(1);
    const { status, body } = await peer.propose();
    expect(status).toBe(200);
    expect(await remove(t, peer.relayId)).toMatchObject({ status: 200 });
    const confirmed = await peer.post("/federation/v1/peer/confirm", {
      relay_id: peer.relayId,
      challenge_response: peer.signChallenge(body["nonce_b"]),
      timestamp: t.clock.now(),
      to: t.relay.relayId,
    });
    expect(confirmed).toMatchObject({ status: 403, body: { code: "federation.peer_removed" } });
    await expectShut();
  });

  test("a peer that the operator removed is refused even if it had left by itself before", async () => {
    await peer.remove();
    expect(await shown(t, peer.relayId)).toEqual({ state: "removed", credit: 70 });
    expect(await remove(t, peer.relayId)).toMatchObject({ status: 200 });
    expect(await shown(t, peer.relayId)).toEqual({ state: "removed", credit: 0 });
    await expectShut();
  });

  test("a peer that the operator removed can be removed again, unlike an unknown relay", async () => {
    await remove(t, peer.relayId);
    expect(await remove(t, peer.relayId)).toMatchObject({ status: 200 });
    expect(await remove(t, createFakePeer(t).relayId)).toMatchObject({
      status: 404,
      body: { code: "peer.not_found" },
    });
    await expectShut();
  });

  test("a peer that the operator removed is not disclosed to another relay that proposes under its id", async () => {
    await remove(t, peer.relayId);
    const liar = createFakePeer(t);
    const body = { ...liar.selfDescription(), relay_id: peer.relayId, nonce_a: "0".repeat(64) };
    const headers = liar.headers("POST", "/federation/v1/peer/propose", body);
    expect(
      await liar.post("/federation/v1/peer/propose", body, {
        ...headers,
        "X-Relay-Id": peer.relayId,
      }),
    ).toMatchObject({ body: { code: "peer.key_changed" } });
  });

  describe("peers that return", () => {
    test("a peer that left by itself returns with its former credit", async () => {
      await peer.remove();
      expect(await shown(t, peer.relayId)).toEqual({ state: "removed", credit: 70 });
      await t.clock.advance(1);
      await peer.completeHandshake();
      expect(await shown(t, peer.relayId)).toEqual({ state: "active", credit: 70 });
    });

    test("a peer that missed its heartbeats returns with its former credit", async () => {
      await suspend(t, peer);
      for (let missed = 4; missed <= 5; missed += 1) {
        await t.clock.advance(60_000);
        await t.relay.tick();
      }
      await waitUntil(
        async () => (await shown(t, peer.relayId))?.state === "removed",
        "it is removed",
      );
      await peer.completeHandshake();
      expect(await shown(t, peer.relayId)).toEqual({ state: "active", credit: 70 });
    });
  });
});

test("A3: the removal by the operator survives a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "removal-"));
  const env = { ...federated, AGENT_DB_PATH: join(folder, "here.db") };
  const first = await startTestRelay(env);
  const peer = await createFakePeer(first).completeHandshake();
  await remove(first, peer.relayId);
  await first.close();
  const second = await startTestRelay(env, 2, first.clock);
  const path = "/federation/v1/peer/propose";
  const body = {
    ...peer.selfDescription(),
    nonce_a: "0".repeat(64),
    timestamp: second.clock.now(),
  };
  expect(
    await second.request("POST", path, { body, headers: peer.headers("POST", path, body) }),
  ).toMatchObject({ status: 403, body: { code: "federation.peer_removed" } });
  await second.close();
  rmSync(folder, { recursive: true });
});

describe("A3: readmitted peers", () => {
  let network: Awaited<ReturnType<typeof startNetwork>>;
  let a: TestSite;
  let b: TestSite;
  beforeEach(async () => {
    network = await startNetwork(["alpha", "beta"], [[0, 1]]);
    [a, b] = network.sites as [TestSite, TestSite];
    await remove(a, b.relayId);
  });
  afterEach(() => network.close());

  const admit = (by: TestSite, other: TestSite) =>
    by.asOperator("POST", PEERS_PATH, { endpoint_url: other.url });

  test("a removal by the operator takes the default credit from a peer", async () => {
    expect(await shown(b, a.relayId)).toEqual({ state: "removed", credit: 1_000 });
    expect(await shown(a, b.relayId)).toEqual({ state: "removed", credit: 0 });
  });

  test("a readmitted peer is active with a credit of 0 until the operator sets one", async () => {
    expect(await admit(a, b)).toMatchObject({ status: 200 });
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 0 });
    await setCredit(a, b.relayId, 3);
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 3 });
  });

  test("a readmitted peer has the credit that the operator set during the removal", async () => {
    await setCredit(a, b.relayId, 4);
    await admit(a, b);
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 4 });
  });

  test("a removed peer does not get the default credit by leaving and being added once more", async () => {
    await admit(a, b);
    await remove(b, a.relayId);
    expect(await shown(a, b.relayId)).toEqual({ state: "removed", credit: 0 });
    await admit(b, a);
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 0 });
    await remove(b, a.relayId);
    await admit(a, b).then(({ body }) => expect(body).toMatchObject({ code: "peer.refused" }));
    expect(await shown(a, b.relayId)).toEqual({ state: "removed", credit: 0 });
  });

  test("a removed peer returns when both operators have removed the other relay and both admit it again", async () => {
    await admit(a, b);
    await remove(b, a.relayId);
    await remove(a, b.relayId);
    expect(await admit(a, b)).toMatchObject({ body: { code: "peer.refused" } });
    expect(await shown(a, b.relayId)).toEqual({ state: "removed", credit: 0 });
    expect(await shown(b, a.relayId)).toEqual({ state: "removed", credit: 0 });
    expect(await admit(b, a)).toMatchObject({ status: 200 });
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 0 });
    expect(await shown(b, a.relayId)).toEqual({ state: "active", credit: 0 });
  });

  test("a removed peer stays removed when another address claims to be that relay", async () => {
    await remove(b, a.relayId);
    const impostor = b.url.replace("127.0.0.1", "localhost");
    expect(await a.asOperator("POST", PEERS_PATH, { endpoint_url: impostor })).toMatchObject({
      body: { code: "peer.refused" },
    });
    expect(await admit(b, a)).toMatchObject({ body: { code: "peer.refused" } });
  });

  test("a removed peer cannot return by its own handshake", async () => {
    expect(await admit(b, a)).toMatchObject({ body: { code: "peer.refused" } });
    expect(await shown(a, b.relayId)).toEqual({ state: "removed", credit: 0 });
  });
});

describe("A3: a lost peer that the operator adds again", () => {
  let sites: TwoSites;
  let isCut: boolean;
  beforeEach(async () => {
    isCut = false;
    sites = await startTwoSites({
      chooseAction: () => (isCut ? "refuse" : "pass"),
      beta: { AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "false" },
    });
  });
  afterEach(() => closeSites([sites.a, sites.b], sites.proxies));

  /** Lets both miss five heartbeats, and lets the operator of one add the other. */
  async function loseAndAdd(by: TestSite, other: TestSite): Promise<void> {
    const { a, b, clock } = sites;
    isCut = true;
    for (let missed = 1; missed <= 5; missed += 1) {
      await clock.advance(60_000);
      await Promise.all([a.relay.tick(), b.relay.tick()]);
      for (const site of [a, b]) {
        await waitUntil(
          () => site.listLogged("federation.heartbeat.missed").length === missed,
          `heartbeat ${missed} of ${site.name}`,
        );
      }
    }
    isCut = false;
    expect(await shown(by, other.relayId)).toMatchObject({ state: "removed" });
    const added = await by.asOperator("POST", PEERS_PATH, { endpoint_url: other.url });
    expect(added).toMatchObject({ status: 200, body: { state: "active" } });
  }

  test.each([0, 5])(
    "a peer that is added again keeps the limit %s that the operator set",
    async (credit) => {
      const { a, b } = sites;
      await setCredit(a, b.relayId, credit);
      await loseAndAdd(a, b);
      expect(await shown(a, b.relayId)).toEqual({ state: "active", credit });
    },
  );

  test("a peer that is added again keeps the default limit if the operator never changed it", async () => {
    const { a, b } = sites;
    await loseAndAdd(a, b);
    expect(await shown(a, b.relayId)).toEqual({ state: "active", credit: 1_000 });
  });

  test("a stranger without credit gets the default limit when the operator adds it", async () => {
    const { a, b } = sites;
    expect(await shown(b, a.relayId)).toEqual({ state: "active", credit: 0 });
    await loseAndAdd(b, a);
    expect(await shown(b, a.relayId)).toEqual({ state: "active", credit: 1_000 });
  });
});
