import { bytesToHex, canonicalize, fromBase64Url, hexToBytes, verify } from "@agent/crypto";
import { hashReceipt } from "@agent/receipts";
import type { FederationPeer } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  completeTaskOfPeer,
  federated,
  forwardTaskToPeer,
  getPosition,
  proposePeer,
  createQuery,
  relayTask,
  suspend,
} from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import { getReconciliation, waitUntil } from "../../test/network/network.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";

const base = "/federation/v1";
const SETTLE_PATH = `${base}/settlement/forward`;
const RESULT_PATH = `${base}/task/result`;

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  t = await startTestRelay(federated);
  peer = await createFakePeer(t).completeHandshake();
});
afterEach(() => t.close());

/** Reads all state of value that an attack could change. */
async function stateOf(relay: TestRelay = t) {
  const { consistent, totals } = await getReconciliation(relay as never);
  const { body } = await relay.asOperator("GET", "/api/v1/admin/federation/peers");
  const outbox = await relay.asOperator("GET", "/api/v1/admin/federation/outbox");
  expect(consistent).toBe(true);
  return { totals, peers: body["peers"], outbox: outbox.body };
}

/** Expects that an attempt is refused with a code and changes nothing. */
async function expectHarmless(code: string, attempt: () => Promise<Reply>): Promise<Reply> {
  const before = await stateOf();
  const reply = await attempt();
  expect(reply.body).toMatchObject({ code });
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(504);
  expect(await stateOf()).toEqual(before);
  return reply;
}

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

describe("FE1 while federation is off", () => {
  test.each(paths)("%s %s is answered with 404, like any other method", async (method, path) => {
    const off = await startTestRelay();
    for (const verb of [method, "PUT", "DELETE"]) {
      const body = verb === "GET" ? undefined : {};
      expect(await off.request(verb, `${base}/${path}`, { body })).toMatchObject({
        status: 404,
        body: { code: "route.not_found" },
      });
    }
    await off.close();
  });
});

describe("FE2 a signature that is", () => {
  const body = () => createQuery(peer);
  const path = `${base}/discover`;
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
  ])("%s is refused", async (_, headers) => {
    await expectHarmless("federation.signature_invalid", () => peer.post(path, body(), headers()));
  });
});

describe("FE3 a time in the header that is", () => {
  const path = `${base}/discover`;
  test.each([
    ["over 5 minutes old", -300_001],
    ["over 5 minutes ahead", 300_001],
  ])("%s is refused", async (_, off) => {
    const body = createQuery(peer);
    const headers = peer.headers("POST", path, body, t.clock.now() + off);
    await expectHarmless("federation.timestamp_expired", () => peer.post(path, body, headers));
  });

  test.each(["yesterday", "", "1760000000000", "2025-10-09"])("%j is refused", async (time) => {
    const body = createQuery(peer);
    const headers = { ...peer.headers("POST", path, body), "X-Relay-Timestamp": time };
    await expectHarmless("federation.timestamp_expired", () => peer.post(path, body, headers));
  });

  test("FE3 a time in the header that is exactly 5 minutes old is accepted", async () => {
    const body = createQuery(peer);
    const headers = peer.headers("POST", path, body, t.clock.now() - 300_000);
    expect(await peer.post(path, body, headers)).toMatchObject({ status: 200 });
  });
});

describe("FE4 an old body under a fresh header", () => {
  test("an old forward under a fresh header is refused as a duplicate", async () => {
    const { forward } = await completeTaskOfPeer(t, peer);
    await t.clock.advance(1_000);
    await expectHarmless("forward.duplicate", () => peer.post(`${base}/task/forward`, forward));
  });

  test("an old settlement under a fresh header is answered as it was the first time and pays nothing", async () => {
    const { settlement, worker } = await completeTaskOfPeer(t, peer);
    const body = peer.createSettlement(settlement);
    const first = await peer.post(SETTLE_PATH, body);
    await t.clock.advance(1_000);
    expect((await peer.post(SETTLE_PATH, body)).body).toEqual(first.body);
    expect(await t.getBalance(worker)).toBe(0.9025);
    expect(await getPosition(t, peer)).toBe(-0.95);
  });

  test("an old heartbeat under a fresh header is refused as stale when it is not newer than the last", async () => {
    await peer.heartbeat(t.clock.now() + 5);
    await expectHarmless("peer.timestamp_stale", () => peer.heartbeat(t.clock.now() + 5));
  });

  test("an old body under a fresh header is refused once its own timestamp is 5 minutes old", async () => {
    const worker = await t.createWorker(1);
    const body = peer.createForward({ target_agent: worker.agentId });
    await t.clock.advance(300_001);
    await expectHarmless("federation.timestamp_expired", () =>
      peer.post(`${base}/task/forward`, body),
    );
  });
});

test("FE5 a body for one endpoint is refused by another", async () => {
  const { settlement } = await completeTaskOfPeer(t, peer);
  const bodies: Record<string, object> = {
    "task/forward": peer.createForward(),
    "settlement/forward": peer.createSettlement(settlement),
    discover: createQuery(peer),
    "peer/propose": { ...peer.selfDescription(), nonce_a: "0".repeat(64) },
  };
  for (const [name, body] of Object.entries(bodies)) {
    for (const other of Object.keys(bodies).filter((path) => path !== name)) {
      await expectHarmless("request.invalid", () => peer.post(`${base}/${other}`, body));
    }
  }
});

test("FE6 a signature covers the canonical form, so the body may be written in any way", async () => {
  const path = `${base}/discover`;
  const body = createQuery(peer);
  const spelt = JSON.stringify(Object.fromEntries(Object.entries(body).toReversed()), null, 2)
    .replace('"hop_count": 0', '"hop_count": 0.0')
    .replace("summarise", "\\u0073ummarise");
  const headers = peer.headers("POST", path, body);
  expect(spelt).not.toBe(canonicalize(body));
  expect(await t.request("POST", path, { raw: spelt, headers })).toMatchObject({ status: 200 });
});

describe("FE7 a proposal is refused without any signature of ours when its", () => {
  test.each<[string, object]>([
    ["relay_id is no UUID", { relay_id: "alpha" }],
    [
      "relay_id carries a nonce",
      { relay_id: `019b7d21-53eb-7ccd-926c-3badff397111:${"0".repeat(64)}` },
    ],
    ["nonce is too short", { nonce_a: "00" }],
    [
      "nonce is a text",
      { nonce_a: "please sign this text for me, it is only a challenge, honestly!!" },
    ],
    ["key is no key", { public_key: "zz" }],
    ["endpoint is no http", { endpoint_url: "file:///etc/passwd" }],
  ])("%s", async (_, change) => {
    const reply = await expectHarmless("request.invalid", () => createFakePeer(t).propose(change));
    expect(JSON.stringify(reply.body)).not.toMatch(/[\w-]{86}/);
  });
});

describe("FE8 a live peer is not overwritten by a proposal", () => {
  test.each<[string, string, () => Promise<Reply>]>([
    ["under its id with another key", "peer.key_changed", () => proposePeer(t, peer.relayId)],
    ["of its own", "peer.exists", () => peer.propose()],
    ["under this relay's id", "peer.own_identity", () => proposePeer(t, t.relay.relayId)],
  ])("%s", async (_, code, attempt) => {
    await expectHarmless(code, attempt);
    expect(await peer.heartbeat()).toMatchObject({ status: 200 });
  });

  test("the id of a removed peer stays bound to its key", async () => {
    await peer.remove();
    await expectHarmless("peer.key_changed", () => proposePeer(t, peer.relayId));
  });
});

describe("FE9 a confirmation that", () => {
  const confirmPath = `${base}/peer/confirm`;
  const begin = async () => {
    const fresh = createFakePeer(t);
    const { body } = await fresh.propose();
    const confirm = (challenge_response: unknown, timestamp = t.clock.now()) =>
      fresh.post(confirmPath, { relay_id: fresh.relayId, challenge_response, timestamp });
    return { fresh, answer: body, confirm };
  };

  test.each(["answers another nonce", "reflects our own challenge"])(
    "%s ends the handshake",
    async (what) => {
      const { fresh, answer, confirm } = await begin();
      const wrong =
        what === "reflects our own challenge"
          ? answer["challenge"]
          : fresh.signChallenge("0".repeat(64));
      expect((await confirm(wrong)).body).toMatchObject({ code: "peer.challenge_invalid" });
      const right = fresh.signChallenge(answer["nonce_b"]);
      expect((await confirm(right)).body).toMatchObject({ code: "peer.not_pending" });
      expect(await getPosition(t, fresh)).toBeUndefined();
    },
  );

  test("a confirmation that answers another session's nonce is refused", async () => {
    const [one, two] = [await begin(), await begin()];
    const crossed = one.fresh.signChallenge(two.answer["nonce_b"]);
    expect((await one.confirm(crossed)).body).toMatchObject({ code: "peer.challenge_invalid" });
  });

  test("a confirmation that comes twice is accepted once, and one without a proposal not at all", async () => {
    const { fresh, answer, confirm } = await begin();
    const right = fresh.signChallenge(answer["nonce_b"]);
    expect(await confirm(right)).toMatchObject({ status: 200, body: { status: "active" } });
    expect((await confirm(right, t.clock.now() + 1)).body).toMatchObject({
      code: "peer.not_pending",
    });
  });

  test("a confirmation that comes after 5 minutes is too late", async () => {
    const { fresh, answer, confirm } = await begin();
    await t.clock.advance(300_001);
    const right = fresh.signChallenge(answer["nonce_b"]);
    expect((await confirm(right)).body).toMatchObject({ code: "peer.not_pending" });
  });
});

describe("FE10 admission", () => {
  const relayId = "019b7d21-53eb-7ccd-926c-3badff397111";
  test.each([
    ["a blocked peer", 403, "Peer is blocked", { AGENT_FEDERATION_BLOCKED_PEERS: relayId }],
    [
      "one that the allowlist does not name",
      403,
      "Peer is not in allowlist",
      { AGENT_FEDERATION_ALLOWED_PEERS: "019b7d21-53eb-7ccd-926c-3badff397112" },
    ],
    [
      "one more than the limit",
      503,
      "Maximum federation peer limit reached",
      { AGENT_FEDERATION_MAX_PEERS: "0" },
    ],
  ])("admission refuses %s", async (_, status, error, env) => {
    const strict = await startTestRelay({ ...federated, ...env });
    expect(await proposePeer(strict, relayId)).toMatchObject({ status, body: { error } });
    await strict.close();
  });

  test("a peer that was not vouched for has no credit, so it submits only free tasks", async () => {
    const open = await startTestRelay({
      AGENT_FEDERATION_ENDPOINT_URL: "http://127.0.0.1:1",
    });
    const newcomer = await createFakePeer(open).completeHandshake();
    const [paid, free] = [await open.createWorker(1), await open.createWorker(0)];
    expect((await newcomer.forward({ target_agent: paid.agentId })).body).toMatchObject({
      code: "clearing.limit_exceeded",
    });
    const budget = { amount: 0, currency: "USD" };
    expect(await newcomer.forward({ target_agent: free.agentId, budget })).toMatchObject({
      status: 202,
    });
    await open.close();
  });
});

describe("FE11 a query", () => {
  test.each<[string, () => object, number]>([
    ["with hops left is forwarded", () => ({}), 1],
    [
      "that lists this relay as visited is not forwarded",
      () => ({ visited: [t.relay.relayId] }),
      0,
    ],
    ["at its last hop is not forwarded", () => ({ hop_count: 3 }), 0],
    ["that claims 99 hops is limited to 3", () => ({ max_hops: 99, hop_count: 3 }), 0],
    ["that has visited the other peer is not forwarded", () => ({ visited: "other" }), 0],
  ])("%s", async (_, change, passed) => {
    const listening = await startListeningPeer(() => ({ agents: [] }));
    const other = await createFakePeer(t, listening.url).completeHandshake();
    const { visited, ...rest } = change() as { visited?: unknown };
    const body = createQuery(peer, {
      ...rest,
      ...(visited !== undefined && { visited: visited === "other" ? [other.relayId] : visited }),
    });
    expect(await peer.post(`${base}/discover`, body)).toMatchObject({ status: 200 });
    const asked = listening.requests.filter(({ path }) => path.endsWith("/discover"));
    expect(asked).toHaveLength(passed);
    for (const { body: onward } of asked) {
      expect(onward).toMatchObject({ hop_count: 1, max_hops: 3 });
      expect(onward["visited"]).toContain(t.relay.relayId);
    }
    await listening.close();
  });

  test("FE11 a query that is repeated within 30 s is forwarded once", async () => {
    const listening = await startListeningPeer(() => ({ agents: [] }));
    await createFakePeer(t, listening.url).completeHandshake();
    for (const capability of ["a", "b"]) {
      await peer.post(`${base}/discover`, createQuery(peer, { capability }));
    }
    expect(listening.requests.filter(({ path }) => path.endsWith("/discover"))).toHaveLength(1);
    await listening.close();
  });

  test.each([
    { hop_count: -1 },
    { hop_count: 0.5 },
    { visited: Array.from({ length: 10_000 }, () => "x") },
  ])("FE11 a malformed query is refused: %#", async (change) => {
    const body = createQuery(peer, change);
    await expectHarmless("request.invalid", () => peer.post(`${base}/discover`, body));
  });
});

describe("FE12 answers to queries", () => {
  const entry = (agentId: string, change: object = {}) => ({
    agent_id: agentId,
    public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    capabilities: ["summarise"],
    hop_distance: 0,
    ...change,
  });
  const discovered = async (agents: () => unknown) => {
    const listening = await startListeningPeer(({ path }) =>
      path.endsWith("/discover") ? { agents: agents() } : undefined,
    );
    await createFakePeer(t, listening.url).completeHandshake();
    const caller = await t.createAgent();
    const query = "/api/v1/agents/discover?capability=summarise&limit=200";
    const { body } = await t.as(caller, "GET", query);
    await listening.close();
    return body["agents"] as { agent_id: string; hop_distance: number; source_relay: string }[];
  };

  test("a peer's answer adds at most 200 entries", async () => {
    const many = Array.from({ length: 5_000 }, (_, at) =>
      entry(`019b7d21-53eb-7ccd-926c-${String(at).padStart(12, "0")}`),
    );
    expect(await discovered(() => many)).toHaveLength(200);
  });

  test("a peer's answer never changes an agent of this relay", async () => {
    const own = await t.createWorker(1);
    const found = await discovered(() => [entry(own.agentId, { trust: 1 })]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ hop_distance: 0, source_relay: t.relay.relayId });
  });

  test.each([0, -1, 0.5, 1e9])(
    "hops in a peer's answer are counted from this relay, whatever number it states: %d",
    async (claimed) => {
      const [found] = await discovered(() => [
        entry("019b7d21-53eb-7ccd-926c-3badff397222", { hop_distance: claimed }),
      ]);
      expect(found?.hop_distance).toBe(1);
    },
  );

  test("a query of a peer is answered with visible agents only", async () => {
    const hidden = await t.createAgent();
    const register = (agent: typeof hidden, federation_visible: boolean) =>
      t.as(agent, "POST", "/api/v1/agents/register", {
        agent_id: agent.agentId,
        endpoint_url: "http://127.0.0.1:1/mcp",
        capabilities: ["summarise"],
        federation_visible,
      });
    await register(hidden, false);
    const shown = await t.createAgent();
    await register(shown, true);
    const { body } = await peer.post(`${base}/discover`, createQuery(peer));
    const ids = (body["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
    expect(ids).toEqual([shown.agentId]);
    expect(JSON.stringify(body)).not.toContain("127.0.0.1:1");
    expect((await peer.forward({ target_agent: hidden.agentId })).body).toMatchObject({
      code: "forward.agent_not_found",
    });
  });
});

test.each([
  ["personal", undefined, false],
  ["personal", true, true],
  ["service", undefined, true],
  [undefined, undefined, true],
] as const)(
  "D7: an agent of type %s with a listing and federation_visible %s is shown to peers: %s",
  async (agent_type, federation_visible, visible) => {
    const agent = await t.createAgent();
    const registered = await t.as(agent, "POST", "/api/v1/agents/register", {
      agent_id: agent.agentId,
      endpoint_url: "http://127.0.0.1:1/mcp",
      capabilities: ["summarise"],
      metadata: { agent_type },
      federation_visible,
    });
    expect(registered.status).toBe(200);
    await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
      capabilities: ["summarise"],
    });
    const { body } = await peer.post(`${base}/discover`, createQuery(peer));
    const ids = (body["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
    expect(ids).toEqual(visible ? [agent.agentId] : []);
    const { status } = await peer.forward({ target_agent: agent.agentId });
    expect(status).toBe(visible ? 202 : 404);
  },
);

test("FE13 exactly one of 50 equal concurrent forwards is accepted, and the rest are answered with 409", async () => {
  const worker = await t.createWorker(1);
  const body = peer.createForward({ target_agent: worker.agentId });
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => peer.post(`${base}/task/forward`, body)),
  );
  const statuses = replies.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  expect((await stateOf()).totals).toMatchObject({ holds: 0.95, peers: -0.95 });
});

describe("FE14 a forward", () => {
  test("FE14 a forward to an unknown agent is answered with 404", async () => {
    await expectHarmless("forward.agent_not_found", () => peer.forward());
  });

  test.each([
    ["below 0", -1, "request.invalid"],
    ["above the maximum", 1e10, "request.invalid"],
    ["with too many decimals", 0.0000001, "request.invalid"],
    ["that is not a number", "1", "request.invalid"],
    ["of 0 for a paid agent", 0, "forward.underpaid"],
  ])("FE14 a forward with a budget %s is refused", async (_, amount, code) => {
    const { agentId } = await t.createWorker(1);
    const change = { target_agent: agentId, budget: { amount, currency: "USD" } };
    await expectHarmless(code, () => peer.forward(change));
  });

  test("B1: a peer cannot buy a capability from a priced agent that does not list it", async () => {
    const { agentId: target_agent } = await t.createWorker(1);
    const forward = (required_capabilities: string[], amount: number) =>
      peer.forward({
        target_agent,
        task_payload: { prompt: "work", required_capabilities },
        budget: { amount, currency: "USD" },
      });
    await expectHarmless("forward.not_offered", () => forward(["made up"], 0));
    await expectHarmless("forward.not_offered", () => forward(["summarise", "made up"], 10));
    expect(await forward(["summarise"], 0.95)).toMatchObject({ status: 202 });
  });

  test("B12: a forward expires with its origin's task, and at this relay's maximum lifetime", async () => {
    const bounded = await startTestRelay({ ...federated, AGENT_TASK_TTL_MAX_MS: "7200000" });
    try {
      const origin = await createFakePeer(bounded).completeHandshake();
      const worker = await bounded.createWorker(0);
      const now = bounded.clock.now();
      const free = { target_agent: worker.agentId, budget: { amount: 0, currency: "USD" } };
      const ends = [now + 3_600_000, now + 7_200_001, undefined];
      for (const expires_at of ends) {
        expect((await origin.forward({ ...free, expires_at })).status).toBe(202);
      }
      const listed = await bounded.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
      const tasks = listed.body["tasks"] as { expires_at: number }[];
      expect(tasks.map(({ expires_at }) => expires_at - now).toSorted((x, y) => x - y)).toEqual([
        900_000, 3_600_000, 7_200_000,
      ]);
    } finally {
      await bounded.close();
    }
  });

  test("FE14 a forward whose id could be confused with other local ids is refused", async () => {
    const { agentId } = await t.createWorker(1);
    for (const task_id of ["task", "", "../x", "019b7d21-53eb-7ccd-926c-3badff39722X"]) {
      const change = { target_agent: agentId, task_id };
      await expectHarmless("request.invalid", () => peer.forward(change));
    }
  });

  test("FE14 a forward with a budget that overflows JSON is refused", async () => {
    const { agentId } = await t.createWorker(1);
    const body = peer.createForward({ target_agent: agentId });
    const raw = JSON.stringify(body).replace('"amount":0.95', '"amount":1e999');
    const path = `${base}/task/forward`;
    await expectHarmless("request.invalid", () =>
      t.request("POST", path, { raw, headers: peer.headers("POST", path, body) }),
    );
  });
});

describe("FE15 results", () => {
  test("a result counts only with the pinned key, the whole receipt and this peer's attestation", async () => {
    const away = await forwardTaskToPeer(t);
    const { worker, task, receipt } = away;
    const resultOf: FakePeer["createResult"] = (...of) => away.peer.createResult(...of);
    const impostor = { ...t.createUnknownAgent(), agentId: worker.agentId };
    const forged = createReceipt(impostor, task);
    const other = await createFakePeer(t).completeHandshake();
    const { attestation: _, ...unattested } = resultOf(receipt);
    const before = await stateOf();
    const attempts: [string, object][] = [
      ["result.key_mismatch", resultOf(forged)],
      ["result.receipt_invalid", resultOf(forged, { public_key: worker.publicKey })],
      ["result.receipt_invalid", resultOf({ ...receipt, result: "more" })],
      ["request.invalid", unattested],
      [
        "result.attestation_invalid",
        resultOf(receipt, { attestation: other.createResult(receipt)["attestation"] }),
      ],
      [
        "result.attestation_invalid",
        resultOf(receipt, {
          attestation: resultOf(createReceipt(worker, { ...task, task_id: peer.relayId }))[
            "attestation"
          ],
        }),
      ],
    ];
    for (const [code, body] of attempts) {
      expect((await away.peer.post(RESULT_PATH, body)).body).toMatchObject({ code });
    }
    expect((await other.post(RESULT_PATH, other.createResult(receipt))).body).toMatchObject({
      code: "result.wrong_peer",
    });
    expect(await stateOf()).toEqual(before);
    expect(t.listLogged("federation.receipt_signature_invalid").length).toBeGreaterThan(0);
    expect(t.listLogged("federation.receipt_key_missing").length).toBeGreaterThan(0);
    expect(await away.peer.post(RESULT_PATH, resultOf(receipt))).toMatchObject({
      status: 200,
      body: { status: "accepted" },
    });
    await away.listening.close();
  });

  test("a result is not accepted from a local agent that registered the worker's id", async () => {
    const away = await forwardTaskToPeer(t);
    const impostor = { ...t.createUnknownAgent(), agentId: away.worker.agentId };
    const { body } = await t.request("POST", "/api/v1/agents/bootstrap", {
      body: { agent_id: impostor.agentId, public_key: impostor.publicKey },
    });
    const thief = { ...impostor, deviceId: String(body["device_id"]) };
    const path = `/agent/${away.boss.agentId}/task/${away.task.task_id}`;
    for (const [method, at, sent] of [
      ["POST", `${path}/result`, createReceipt(thief, away.task)],
      ["GET", path, undefined],
    ] as const) {
      expect(await t.as(thief, method, at, sent)).toMatchObject({
        status: 403,
        body: { code: "task.not_participant" },
      });
    }
    const list = await t.as(thief, "GET", `/agent/${thief.agentId}/tasks`);
    expect(list.body).toMatchObject({ tasks: [] });
    await away.listening.close();
  });
});

test("FE15 the reputation of a remote agent does not pass to a local agent that registers its id", async () => {
  const away = await forwardTaskToPeer(t);
  const { boss, worker, receipt, peer: from } = away;
  expect(await from.post(RESULT_PATH, from.createResult(receipt))).toMatchObject({ status: 200 });
  const trusted = async () => {
    const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
    const records = body["records"] as { remote_agent_id: string }[];
    return records.some(({ remote_agent_id }) => remote_agent_id === worker.agentId);
  };
  expect(await trusted()).toBe(true);
  // The peer was not admitted, so its work bars no binding (A4); that of an admitted peer does.
  const taken = await t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: worker.agentId, public_key: t.createUnknownAgent().publicKey },
  });
  expect(taken).toMatchObject({ status: 201 });
  expect(await trusted()).toBe(false);
  await away.listening.close();
});

describe("FE16 a settlement", () => {
  test.each<[string, string, (done: Awaited<ReturnType<typeof completeTaskOfPeer>>) => object]>([
    [
      "of a higher amount",
      "settlement.amount_mismatch",
      () => ({ amount: 1.95, gross_amount: 2, fee_amount: 0.05 }),
    ],
    ["whose parts do not sum up", "settlement.amount_mismatch", () => ({ fee_amount: 0.06 })],
    ["for another worker", "settlement.receipt_mismatch", () => ({ agent_id: peer.relayId })],
    [
      "for another receipt",
      "settlement.receipt_mismatch",
      () => ({ receipt_hash: "0".repeat(64) }),
    ],
    ["for an unknown task", "settlement.not_owed", () => ({ task_id: peer.relayId })],
  ])("%s is refused", async (_, code, change) => {
    const done = await completeTaskOfPeer(t, peer);
    const body = peer.createSettlement({ ...done.settlement, ...change(done) });
    await expectHarmless(code, () => peer.post(SETTLE_PATH, body));
  });

  test("FE16 a settlement by another peer is refused", async () => {
    const done = await completeTaskOfPeer(t, peer);
    const other = await createFakePeer(t).completeHandshake();
    await expectHarmless("settlement.not_owed", () =>
      other.post(SETTLE_PATH, other.createSettlement(done.settlement)),
    );
  });

  test("FE16 a settlement before the receipt is refused", async () => {
    const worker = await t.createWorker(1);
    const body = peer.createForward({ target_agent: worker.agentId });
    await peer.post(`${base}/task/forward`, body);
    const early = peer.createSettlement({
      task_id: body["task_id"],
      agent_id: worker.agentId,
      receipt_hash: "0".repeat(64),
    });
    await expectHarmless("settlement.not_completed", () => peer.post(SETTLE_PATH, early));
  });

  test("FE16 a settlement that comes twice under two ids is paid once", async () => {
    const { settlement, worker } = await completeTaskOfPeer(t, peer);
    await peer.post(SETTLE_PATH, peer.createSettlement(settlement));
    await expectHarmless("settlement.already_settled", () =>
      peer.post(SETTLE_PATH, peer.createSettlement(settlement)),
    );
    expect(await t.getBalance(worker)).toBe(0.9025);
  });

  test("FE16 two tasks whose settlements have the same id are each paid once", async () => {
    const [one, two] = [await completeTaskOfPeer(t, peer), await completeTaskOfPeer(t, peer)];
    const settlement_id = "019b7d21-53eb-7ccd-926c-3badff397333";
    for (const { settlement } of [one, two, one]) {
      const body = peer.createSettlement({ ...settlement, settlement_id });
      expect(await peer.post(SETTLE_PATH, body)).toMatchObject({ status: 200 });
    }
    expect([await t.getBalance(one.worker), await t.getBalance(two.worker)]).toEqual([
      0.9025, 0.9025,
    ]);
  });

  test("FE16 a settlement that the peer did not sign is refused even under a valid header", async () => {
    const { settlement } = await completeTaskOfPeer(t, peer);
    const body = { ...peer.createSettlement(settlement), amount: 0.95, settled_at: 1 };
    await expectHarmless("federation.signature_invalid", () => peer.post(SETTLE_PATH, body));
  });
});

describe("FE19 heartbeats", () => {
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
  ])("%s are refused", async (_, code, attempt) => {
    await expectHarmless(code, attempt);
  });

  test("a peer is suspended by 3 missed heartbeats, revived by a valid one, and removed by 5 missed ones", async () => {
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
    expect((await peer.post(`${base}/discover`, createQuery(peer))).body).toMatchObject({
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

test("FE19 six failed forwards suspend a peer until its next heartbeat", async () => {
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

test("an unauthenticated request does not use up the rate of the peer that it names", async () => {
  const limited = await startTestRelay({ ...federated, AGENT_RATE_LIMIT_SCALE: "1" });
  const own = await createFakePeer(limited).completeHandshake();
  const path = `${base}/discover`;
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

test("FE20 the signed text of a heartbeat, an id of 36 characters and a number, is never that of another message", async () => {
  const { body } = await peer.heartbeat();
  const { relay_id, timestamp, signature } = body as Record<string, string>;
  const text = `${relay_id}${timestamp}`;
  const identity = (await t.request("GET", `${base}/identity`)).body;
  const key = hexToBytes(String(identity["public_key"]));
  expect(bytesToHex(key)).toHaveLength(64);
  expect(verify(fromBase64Url(String(signature)), text, key)).toBe(true);
  expect(text).toMatch(/^[0-9a-f-]{36}\d+$/);
  await expectHarmless("request.invalid", () => peer.heartbeat(undefined, { relay_id: "short" }));
});

describe("FE21 the trust of a route to a remote agent", () => {
  test.each([
    // Without fees a claim counts as first contact (0.3) at most.
    [0.9, 0.03],
    [1, 0.03],
    [0.2, 0.02],
    [0, 0],
  ])(
    "FE21 a remote agent's trust of %d is multiplied by that of its peer",
    async (claimed, whole) => {
      const worker = t.createUnknownAgent();
      const listening = await startListeningPeer(({ path }) =>
        path.endsWith("/discover")
          ? {
              agents: [
                {
                  agent_id: worker.agentId,
                  public_key: worker.publicKey,
                  capabilities: ["summarise"],
                  trust: claimed,
                  availability: 1,
                },
              ],
            }
          : undefined,
      );
      await createFakePeer(t, listening.url).completeHandshake();
      const boss = await t.createAgent();
      const { body } = await t.as(boss, "POST", `/agent/${boss.agentId}/task`, {
        prompt: "work",
        required_capabilities: ["summarise"],
      });
      const choice = body["routing_choice"] as { sub_scores: { trust: number } };
      expect(choice.sub_scores.trust).toBeCloseTo(whole, 9);
      await listening.close();
    },
  );

  test.each([1.5, -0.1, "1", null])(
    "FE21 an entry with a trust outside 0 to 1 is dropped: %j",
    async (trust) => {
      const worker = t.createUnknownAgent();
      const listening = await startListeningPeer(() => ({
        agents: [
          {
            agent_id: worker.agentId,
            public_key: worker.publicKey,
            capabilities: ["summarise"],
            trust,
          },
        ],
      }));
      await createFakePeer(t, listening.url).completeHandshake();
      const { body } = await peer.post(`${base}/discover`, createQuery(peer));
      expect(listening.requests.map(({ path }) => path)).toContain(`${base}/discover`);
      expect(body).toEqual({ agents: [] });
      await listening.close();
    },
  );
});

describe("FE22 a peer's endpoint", () => {
  const add = (endpoint_url: string) =>
    t.asOperator("POST", "/api/v1/admin/federation/peers", { endpoint_url });

  test.each([
    ["with a link-local address", "http://169.254.169.254", "peer.unreachable"],
    ["with credentials in it", "http://user:pass@127.0.0.1:1", "request.invalid"],
    ["of another scheme", "ftp://127.0.0.1", "request.invalid"],
    ["that is not an address", "peer", "request.invalid"],
  ])("%s is not asked", async (_, url, code) => {
    const reply = await add(url);
    expect(reply.body).toMatchObject({ code });
  });

  test.each<[string, Parameters<typeof startListeningPeer>[0]]>([
    [
      "that redirects",
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1" }).end(),
    ],
    ["with an answer that is too large", () => ({ flood: "x".repeat(3_000_000) })],
    ["with an answer that breaks off", () => undefined],
    ["with an answer that is not an identity", () => ({ agent_id: 1 })],
  ])("%s is no peer", async (_, reply) => {
    const listening = await startListeningPeer(reply);
    await expectHarmless("peer.unreachable", () => add(listening.url));
    await listening.close();
  });

  test("on a private address is not called by a relay with a public one", async () => {
    const open = await startTestRelay({ ...federated, AGENT_BASE_URL: "https://relay.example" });
    const listening = await startListeningPeer(() => ({}));
    await createFakePeer(open, listening.url).propose();
    expect(listening.requests).toEqual([]);
    await Promise.all([open.close(), listening.close()]);
  });
});

test("FE23 queries and heartbeats reveal neither prompts nor workers", async () => {
  const secret = "the confidential prompt";
  const listening = await startListeningPeer(() => ({ agents: [] }));
  await createFakePeer(t, listening.url).completeHandshake();
  const [boss, worker] = [await t.createAgent(), await t.createWorker(0)];
  await t.as(boss, "POST", `/agent/${worker.agentId}/task`, {
    prompt: secret,
    required_capabilities: ["summarise"],
  });
  await t.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
  await t.clock.advance(60_000);
  await t.relay.tick();
  await waitUntil(() => listening.requests.some(({ path }) => path.endsWith("/heartbeat")));
  const sent = JSON.stringify(listening.requests);
  expect(sent).not.toContain(secret);
  expect(sent).not.toContain(boss.agentId);
  await listening.close();
});

describe("middle relays", () => {
  test("FE15 a middle relay accepts a result only from the next relay, and a settlement only from the one before", async () => {
    const { origin, next, receipt, task, reply, passed } = await relayTask(t);
    expect(reply).toMatchObject({ status: 202, body: { status: "pending" } });
    expect(passed).toMatchObject({ budget: { amount: 0.9025 }, origin_relay: t.relay.relayId });
    expect((await origin.post(RESULT_PATH, origin.createResult(receipt))).body).toMatchObject({
      code: "result.wrong_peer",
    });
    const record = {
      task_id: task.task_id,
      agent_id: receipt.agent_id,
      receipt_hash: hashReceipt(receipt),
    };
    expect((await next.post(SETTLE_PATH, next.createSettlement(record))).body).toMatchObject({
      code: "settlement.not_owed",
    });
    expect(await origin.post(SETTLE_PATH, origin.createSettlement(record))).toMatchObject({
      status: 200,
      body: { fee_amount: 0.0475, net_amount: 0.9025 },
    });
    expect((await stateOf()).totals).toMatchObject({ fees: 0.0475, holds: 0.9025, peers: -0.95 });
  });
});
