import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createQuery,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../../test/network/listening-peer.ts";
import { waitUntil } from "../../../test/network/network.ts";
import type { TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

describe("a query", () => {
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
  ])("FE11: a query %s", async (_, change, passed) => {
    const listening = await startListeningPeer(() => ({ agents: [] }));
    const other = await createFakePeer(t, listening.url).completeHandshake();
    const { visited, ...rest } = change() as { visited?: unknown };
    const body = createQuery(peer, {
      ...rest,
      ...(visited !== undefined && { visited: visited === "other" ? [other.relayId] : visited }),
    });
    expect(await peer.post(`${BASE_PATH}/discover`, body)).toMatchObject({ status: 200 });
    const asked = listening.requests.filter(({ path }) => path.endsWith("/discover"));
    expect(asked).toHaveLength(passed);
    for (const { body: onward } of asked) {
      expect(onward).toMatchObject({ hop_count: 1, max_hops: 3 });
      expect(onward["visited"]).toContain(t.relay.relayId);
    }
    await listening.close();
  });

  test("FE11: a query that is repeated within 30 s is forwarded once", async () => {
    const listening = await startListeningPeer(() => ({ agents: [] }));
    await createFakePeer(t, listening.url).completeHandshake();
    for (const capability of ["a", "b"]) {
      await peer.post(`${BASE_PATH}/discover`, createQuery(peer, { capability }));
    }
    expect(listening.requests.filter(({ path }) => path.endsWith("/discover"))).toHaveLength(1);
    await listening.close();
  });

  test.each([
    { hop_count: -1 },
    { hop_count: 0.5 },
    { visited: Array.from({ length: 10_000 }, () => "x") },
  ])("FE11: a malformed query is refused: %#", async (change) => {
    const body = createQuery(peer, change);
    await expectHarmless(t, "request.invalid", () => peer.post(`${BASE_PATH}/discover`, body));
  });
});

describe("answers to queries", () => {
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

  test("FE12: a peer's answer adds at most 200 entries", async () => {
    const many = Array.from({ length: 5_000 }, (_, at) =>
      entry(`019b7d21-53eb-7ccd-926c-${String(at).padStart(12, "0")}`),
    );
    expect(await discovered(() => many)).toHaveLength(200);
  });

  test("FE12: a peer's answer never changes an agent of this relay", async () => {
    const own = await t.createWorker(1);
    const found = await discovered(() => [entry(own.agentId, { trust: 1 })]);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ hop_distance: 0, source_relay: t.relay.relayId });
  });

  test.each([0, -1, 0.5, 1e9])(
    "FE12: hops in a peer's answer are counted from this relay, whatever number it states: %d",
    async (claimed) => {
      const [found] = await discovered(() => [
        entry("019b7d21-53eb-7ccd-926c-3badff397222", { hop_distance: claimed }),
      ]);
      expect(found?.hop_distance).toBe(1);
    },
  );

  test("FE12: a query of a peer is answered with visible agents only", async () => {
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
    const { body } = await peer.post(`${BASE_PATH}/discover`, createQuery(peer));
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
    const { body } = await peer.post(`${BASE_PATH}/discover`, createQuery(peer));
    const ids = (body["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
    expect(ids).toEqual(visible ? [agent.agentId] : []);
    const { status } = await peer.forward({ target_agent: agent.agentId });
    expect(status).toBe(visible ? 202 : 404);
  },
);

describe("the trust of a route to a remote agent", () => {
  test.each([
    // Without fees a claim counts as first contact (0.3) at most.
    [0.9, 0.03],
    [1, 0.03],
    [0.2, 0.02],
    [0, 0],
  ])(
    "FE21: a remote agent's trust of %d is multiplied by that of its peer",
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
    "FE21: an entry with a trust outside 0 to 1 is dropped: %j",
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
      const { body } = await peer.post(`${BASE_PATH}/discover`, createQuery(peer));
      expect(listening.requests.map(({ path }) => path)).toContain(`${BASE_PATH}/discover`);
      expect(body).toEqual({ agents: [] });
      await listening.close();
    },
  );
});

test("FE23: queries and heartbeats reveal neither prompts nor workers", async () => {
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
