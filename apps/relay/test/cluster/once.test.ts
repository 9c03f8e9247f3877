import { createSeededRandom, createTestAgent } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requestApproval, useApproval, voteOn } from "../agents/approvals.ts";
import { federated } from "../contract/operator/federation.ts";
import { onlyOn } from "../engine/engine.ts";
import { createFakePeer, type PeerOfFake } from "../network/fake-peer.ts";
import { claimPairing, openPairing } from "../agents/pairing.ts";
import type { Reply, TestRelay } from "../test-relay.ts";
import { call, startCluster, type Cluster, type Member } from "./start-cluster.ts";

/** Each action that may take effect only once does so at whichever process it is requested, even at both at once. */
describe.runIf(onlyOn("postgres"))("what may happen once, at two processes", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(2, federated);
  });
  afterAll(() => cluster.stop());

  /** Returns one process in the form that the tests of a single relay expect. */
  const at = (member: Member): PeerOfFake & Pick<TestRelay, "as"> => ({
    clock: { now: Date.now },
    relay: { relayId: member.relay.relayId },
    request: (method, path, { token, body, headers = {} } = {}) =>
      call(member, method, path, { ...(token !== undefined && { token }), body, headers }),
    as: (agent, method, path, body) => cluster.as(agent, member, method, path, { body }),
  });
  const [a, b] = [() => at(cluster.members[0]), () => at(cluster.members[1])];
  const listStatuses = (replies: readonly Reply[]) =>
    replies.map(({ status }) => status).toSorted((x, y) => x - y);

  test("a code that one has created is redeemed at the other", async () => {
    const owner = await cluster.createAgent();
    const device = createTestAgent({ now: Date.now, ...createSeededRandom(1) });
    const session = await openPairing(a(), owner);
    expect(await claimPairing(b(), session, device)).toMatchObject({ status: 200 });
    const path = `/pairing/${session.pairing_id}/approve`;
    const approved = await a().as(owner, "POST", path, {});
    expect(approved).toMatchObject({ status: 200 });
    const paired = { ...owner, ...device, agentId: owner.agentId };
    const own = { ...paired, deviceId: String(approved.body["device_id"]) };
    const balance = await b().as(own, "GET", `/api/v1/agents/${owner.agentId}/balance`);
    expect(balance).toMatchObject({ status: 200 });
    expect(await b().as(owner, "POST", path, {})).toMatchObject({ status: 409 });
  });

  test("a code is claimed by one device of those that try it at both", async () => {
    const session = await openPairing(a(), await cluster.createAgent());
    const claims = await Promise.all(
      Array.from({ length: 6 }, (_, turn) => {
        const device = createTestAgent({ now: Date.now, ...createSeededRandom(10 + turn) });
        return claimPairing(turn % 2 === 0 ? a() : b(), session, device);
      }),
    );
    expect(claims.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("two votes at both at once make a quorum, and what was approved is used once", async () => {
    const [agent, ann, bob] = [
      await cluster.createAgent(),
      await cluster.createAgent(),
      await cluster.createAgent(),
    ];
    const approval = await requestApproval(a(), agent, [ann, bob]);
    expect(await useApproval(b(), agent, approval)).toMatchObject({ status: 409 });
    const votes = await Promise.all([voteOn(a(), approval, ann), voteOn(b(), approval, bob)]);
    expect(listStatuses(votes)).toEqual([200, 200]);
    expect(votes.map(({ body }) => body["status"])).toContain("approved");
    const uses = await Promise.all(
      [a(), b(), a(), b()].map((t) => useApproval(t, agent, approval)),
    );
    expect(listStatuses(uses)).toEqual([200, 409, 409, 409]);
  });

  test("a peer that proposes at one confirms at the other, once", async () => {
    const peer = createFakePeer(a());
    const proposed = await peer.propose();
    expect(proposed).toMatchObject({ status: 200 });
    const path = "/federation/v1/peer/confirm";
    const confirmation = () => ({
      relay_id: peer.relayId,
      challenge_response: peer.signChallenge(proposed.body["nonce_b"]),
      timestamp: Date.now(),
      to: a().relay.relayId,
    });
    const confirm = (t: ReturnType<typeof a>) => {
      const body = confirmation();
      return t.request("POST", path, { body, headers: peer.headers("POST", path, body) });
    };
    expect(await confirm(b())).toMatchObject({ status: 200 });
    for (const t of [a(), b()]) {
      expect(await confirm(t)).toMatchObject({ status: 404, body: { code: "peer.not_pending" } });
    }
  });

  test("a signed request of a peer is refused at each once either has answered it", async () => {
    const peer = await createFakePeer(a()).completeHandshake();
    const path = "/federation/v1/peers";
    const headers = peer.headers("GET", path);
    expect(await b().request("GET", path, { headers })).toMatchObject({ status: 200 });
    for (const t of [a(), b()]) {
      const again = await t.request("GET", path, { headers });
      expect(again).toMatchObject({ status: 403, body: { code: "federation.replayed" } });
    }
    const fresh = peer.headers("GET", path, undefined, Date.now() + 1);
    const both = [a(), b(), a(), b()].map((t) => t.request("GET", path, { headers: fresh }));
    expect(listStatuses(await Promise.all(both))).toEqual([200, 403, 403, 403]);
  });

  test("a token for one withdrawal is refused at the other", async () => {
    const agent = await cluster.createAgent();
    await cluster.deposit(agent, 10);
    const path = `/api/v1/agents/${agent.agentId}/withdrawals`;
    const body = { amount: 3, destination: "IBAN 1" };
    const token = await cluster.token(agent);
    expect(await a().request("POST", path, { token, body })).toMatchObject({ status: 201 });
    const again = await b().request("POST", path, { token, body });
    expect(again).toMatchObject({ status: 401, body: { code: "auth.token_used" } });
    const other = await cluster.token(agent);
    const both = [a(), b(), a(), b()].map((t) => t.request("POST", path, { token: other, body }));
    expect(listStatuses(await Promise.all(both))).toEqual([201, 401, 401, 401]);
    const own = await b().as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`);
    expect(own.body["balance"]).toBe(4);
  });
});
