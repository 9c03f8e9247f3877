import { asMicro } from "@agent/budget";
import fc from "fast-check";
import { expect, it } from "vitest";
import { alpha, beta, gamma, worker } from "../../test/messages.ts";
import { parseEntries } from "./entries.ts";
import { computePeerReliability, toRelayNode, listRelays, buildRoute } from "./route.ts";

const entry = {
  agent_id: worker.id,
  public_key: worker.publicKey,
  capabilities: [],
  trust: 0.8,
  latency_ms: 40,
  availability: 0.9,
};

function known(change: object, trust = 0.5) {
  const peer = { relayId: beta.id, trust, latencyMs: 10 };
  const context = { peer, self: alpha.id, isOwn: () => false };
  const [agent] = parseEntries({ agents: [{ ...entry, ...change }] }, context);
  if (agent === undefined) throw new Error("entry left out");
  return agent;
}

const options = { self: alpha.id, passingCost: asMicro(50_000) };

it("a route leads from this relay over the peer to the agent with the attributes of the whole path", () => {
  expect(buildRoute(known({}), options)).toEqual({
    path: ["self", `relay:${alpha.id}`, `relay:${beta.id}`, worker.id],
    trust: 0.4,
    cost: 0.05,
    latency: 50,
    reliability: 0.9,
  });
});

it.each([
  [0, 0, 1],
  [9, 0, 1],
  [0, 1, 0.5],
  [0, 3, 0.25],
  [17, 3, 18 / 21],
])(
  "a peer with %i successes and %i failures has a reliability of %d",
  (successes, failures, expected) => {
    expect(computePeerReliability({ successes, failures })).toBe(expected);
  },
);

it("a route is as reliable as the agent and the peer on the way to it", () => {
  expect(buildRoute({ ...known({}), peer_reliability: 0.5 }, options).reliability).toBe(0.45);
});

it("a route to an agent behind the peer names the source relay", () => {
  const { path } = buildRoute(known({ source_relay: gamma.id, hop_distance: 1 }), options);
  expect(listRelays(path)).toEqual([alpha.id, beta.id, gamma.id]);
  expect(path.slice(1, -1)).toEqual(listRelays(path).map(toRelayNode));
});

it("a route never has more trust than any part of it (F21)", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, (peer, agent) => {
      const { trust } = buildRoute(known({ trust: agent }, peer), options);
      expect(trust).toBeLessThanOrEqual(Math.min(peer, agent));
    }),
  );
});
