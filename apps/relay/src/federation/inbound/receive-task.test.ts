import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  federated,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless, getFederationState } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

test("FE13: exactly one of 50 equal concurrent forwards is accepted, and the rest are answered with 409", async () => {
  const worker = await t.createWorker(1);
  const body = peer.createForward({ target_agent: worker.agentId });
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => peer.post(`${BASE_PATH}/task/forward`, body)),
  );
  const statuses = replies.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  expect((await getFederationState(t)).totals).toMatchObject({ holds: 0.95, peers: -0.95 });
});

describe("a forward", () => {
  test("FE14: a forward to an unknown agent is answered with 404", async () => {
    await expectHarmless(t, "forward.agent_not_found", () => peer.forward());
  });

  test.each([
    ["below 0", -1, "request.invalid"],
    ["above the maximum", 1e10, "request.invalid"],
    ["with too many decimals", 0.0000001, "request.invalid"],
    ["that is not a number", "1", "request.invalid"],
    ["of 0 for a paid agent", 0, "forward.underpaid"],
  ])("FE14: a forward with a budget %s is refused", async (_, amount, code) => {
    const { agentId } = await t.createWorker(1);
    const change = { target_agent: agentId, budget: { amount, currency: "USD" } };
    await expectHarmless(t, code, () => peer.forward(change));
  });

  test("B1: a peer cannot buy a capability from a priced agent that does not list it", async () => {
    const { agentId: target_agent } = await t.createWorker(1);
    const forward = (required_capabilities: string[], amount: number) =>
      peer.forward({
        target_agent,
        task_payload: { prompt: "work", required_capabilities },
        budget: { amount, currency: "USD" },
      });
    await expectHarmless(t, "forward.not_offered", () => forward(["made up"], 0));
    await expectHarmless(t, "forward.not_offered", () => forward(["summarise", "made up"], 10));
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

  test("FE14: a forward whose id could be confused with other local ids is refused", async () => {
    const { agentId } = await t.createWorker(1);
    for (const task_id of ["task", "", "../x", "019b7d21-53eb-7ccd-926c-3badff39722X"]) {
      const change = { target_agent: agentId, task_id };
      await expectHarmless(t, "request.invalid", () => peer.forward(change));
    }
  });

  test("FE14: a forward with a budget that overflows JSON is refused", async () => {
    const { agentId } = await t.createWorker(1);
    const body = peer.createForward({ target_agent: agentId });
    const raw = JSON.stringify(body).replace('"amount":0.95', '"amount":1e999');
    const path = `${BASE_PATH}/task/forward`;
    await expectHarmless(t, "request.invalid", () =>
      t.request("POST", path, { raw, headers: peer.headers("POST", path, body) }),
    );
  });
});
