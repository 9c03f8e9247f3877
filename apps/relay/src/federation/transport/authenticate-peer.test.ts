import { canonicalize } from "@agent/crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  completeTaskOfPeer,
  federated,
  getPosition,
  createQuery,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

const SETTLE_PATH = `${BASE_PATH}/settlement/forward`;

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

const paths = [
  ["GET", "identity"],
  ["POST", "peer/propose"],
  ["POST", "peer/confirm"],
  ["POST", "peer/heartbeat"],
  ["POST", "peer/remove"],
  ["GET", "peers"],
  ["POST", "discover"],
  ["POST", "task/forward"],
  ["POST", "task/result"],
  ["POST", "settlement/forward"],
  ["GET", "settlements"],
] as const;

describe("while federation is off", () => {
  test.each(paths)(
    "FE1: while federation is off, %s %s is answered with 404, like any other method",
    async (method, path) => {
      const off = await startTestRelay();
      for (const verb of [method, "PUT", "DELETE"]) {
        const body = verb === "GET" ? undefined : {};
        expect(await off.request(verb, `${BASE_PATH}/${path}`, { body })).toMatchObject({
          status: 404,
          body: { code: "route.not_found" },
        });
      }
      await off.close();
    },
  );
});

describe("the signature of a request", () => {
  const body = () => createQuery(peer);
  const path = `${BASE_PATH}/discover`;
  const without = (name: string) => {
    const { [name]: _, ...rest } = peer.headers("POST", path, body());
    return rest;
  };
  test.each<[string, () => Record<string, string>]>([
    ["missing", () => without("X-Relay-Signature")],
    ["of no relay", () => without("X-Relay-Id")],
    [
      "another relay's",
      () => ({ ...createFakePeer(t).headers("POST", path, body()), "X-Relay-Id": peer.relayId }),
    ],
    ["over another body", () => peer.headers("POST", path, { ...body(), capability: "else" })],
    ["cut short", () => ({ ...peer.headers("POST", path, body()), "X-Relay-Signature": "A" })],
    ["of a stranger", () => createFakePeer(t).headers("POST", path, body())],
  ])("FE2: a signature that is %s is refused", async (_, headers) => {
    await expectHarmless(t, "federation.signature_invalid", () =>
      peer.post(path, body(), headers()),
    );
  });
});

describe("the time in the header of a request", () => {
  const path = `${BASE_PATH}/discover`;
  test.each([
    ["over 5 minutes old", -300_001],
    ["over 5 minutes ahead", 300_001],
  ])("FE3: a time in the header that is %s is refused", async (_, off) => {
    const body = createQuery(peer);
    const headers = peer.headers("POST", path, body, t.clock.now() + off);
    await expectHarmless(t, "federation.timestamp_expired", () => peer.post(path, body, headers));
  });

  test.each(["yesterday", "", "1760000000000", "2025-10-09"])(
    "FE3: %j as the time in the header is refused",
    async (time) => {
      const body = createQuery(peer);
      const headers = { ...peer.headers("POST", path, body), "X-Relay-Timestamp": time };
      await expectHarmless(t, "federation.timestamp_expired", () => peer.post(path, body, headers));
    },
  );

  test("FE3: a time in the header that is exactly 5 minutes old is accepted", async () => {
    const body = createQuery(peer);
    const headers = peer.headers("POST", path, body, t.clock.now() - 300_000);
    expect(await peer.post(path, body, headers)).toMatchObject({ status: 200 });
  });
});

describe("an old body under a fresh header", () => {
  test("FE4: an old forward under a fresh header is refused as a duplicate", async () => {
    const { forward } = await completeTaskOfPeer(t, peer);
    await t.clock.advance(1_000);
    await expectHarmless(t, "forward.duplicate", () =>
      peer.post(`${BASE_PATH}/task/forward`, forward),
    );
  });

  test("FE4: an old settlement under a fresh header is answered as it was the first time and pays nothing", async () => {
    const { settlement, worker } = await completeTaskOfPeer(t, peer);
    const body = peer.createSettlement(settlement);
    const first = await peer.post(SETTLE_PATH, body);
    await t.clock.advance(1_000);
    expect((await peer.post(SETTLE_PATH, body)).body).toEqual(first.body);
    expect(await t.getBalance(worker)).toBe(0.9025);
    expect(await getPosition(t, peer)).toBe(-0.95);
  });

  test("FE4: an old heartbeat under a fresh header is refused as stale when it is not newer than the last", async () => {
    await peer.heartbeat(t.clock.now() + 5);
    await expectHarmless(t, "peer.timestamp_stale", () => peer.heartbeat(t.clock.now() + 5));
  });

  test("FE4: an old body under a fresh header is refused once its own timestamp is 5 minutes old", async () => {
    const worker = await t.createWorker(1);
    const body = peer.createForward({ target_agent: worker.agentId });
    await t.clock.advance(300_001);
    await expectHarmless(t, "federation.timestamp_expired", () =>
      peer.post(`${BASE_PATH}/task/forward`, body),
    );
  });
});

test("FE5: a body for one endpoint is refused by another", async () => {
  const { settlement } = await completeTaskOfPeer(t, peer);
  const bodies: Record<string, object> = {
    "task/forward": peer.createForward(),
    "settlement/forward": peer.createSettlement(settlement),
    discover: createQuery(peer),
    "peer/propose": { ...peer.selfDescription(), nonce_a: "0".repeat(64) },
  };
  for (const [name, body] of Object.entries(bodies)) {
    for (const other of Object.keys(bodies).filter((path) => path !== name)) {
      await expectHarmless(t, "request.invalid", () => peer.post(`${BASE_PATH}/${other}`, body));
    }
  }
});

test("FE6: a signature covers the canonical form, so the body may be written in any way", async () => {
  const path = `${BASE_PATH}/discover`;
  const body = createQuery(peer);
  const spelt = JSON.stringify(Object.fromEntries(Object.entries(body).toReversed()), null, 2)
    .replace('"hop_count": 0', '"hop_count": 0.0')
    .replace("summarise", "\\u0073ummarise");
  const headers = peer.headers("POST", path, body);
  expect(spelt).not.toBe(canonicalize(body));
  expect(await t.request("POST", path, { raw: spelt, headers })).toMatchObject({ status: 200 });
});

test("an unauthenticated request does not use up the rate of the peer that it names", async () => {
  const limited = await startTestRelay({ ...federated, AGENT_RATE_LIMIT_SCALE: "1" });
  const own = await createFakePeer(limited).completeHandshake();
  const path = `${BASE_PATH}/discover`;
  for (let sent = 0; sent < 40; sent += 1) {
    const body = createQuery(own);
    const headers = {
      ...createFakePeer(limited).headers("POST", path, body),
      "X-Relay-Id": own.relayId,
    };
    expect(await own.post(path, body, headers)).toMatchObject({
      status: 403,
      body: { code: "federation.signature_invalid" },
    });
  }
  const replies: number[] = [];
  for (let sent = 0; sent < 31; sent += 1) replies.push((await own.heartbeat()).status);
  expect(replies).toEqual([...Array.from({ length: 30 }, () => 200), 429]);
  await limited.close();
});
