import { hexToBytes, uuidV7, verifyJson } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  federated,
  relayTask,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import {
  getReconciliation,
  startNetwork,
  waitUntil,
  type TestSite,
} from "../../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

const pathOf = (...relays: readonly string[]) => ({
  composite: 0.5,
  path: ["self", ...relays.map((id) => `relay:${id}`)],
});
const pays = (amount: number) => ({ budget: { amount, currency: "USD" } });

/** Publishes the worker's listing at a price of 1, with further members. */
const list = (t: TestRelay, worker: TestAgent, change: object) =>
  t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, {
    capabilities: ["summarise"],
    pricing: [{ capability: "summarise", unit_cost: 1 }],
    ...change,
  });

describe("A11: a direct peer that pays less than the price after one fee", () => {
  let t: TestRelay;
  let peer: FakePeer;
  let worker: TestAgent;
  beforeEach(async () => {
    ({ t, peer } = await startRelayWithPeer());
    worker = await t.createWorker(1);
  });
  afterEach(() => t.close());

  const stranger = (at: number) => uuidV7(t.clock.now(), new Uint8Array(10).fill(at));
  const sends = (amount: number, earlier: readonly string[], change: object = {}) =>
    peer.forward({
      target_agent: worker.agentId,
      ...pays(amount),
      routing_choice: pathOf(...earlier, peer.relayId, t.relay.relayId),
      ...change,
    });

  async function expectRefused(attempt: () => ReturnType<typeof sends>): Promise<void> {
    const before = await getReconciliation(t as never);
    expect(await attempt()).toMatchObject({ status: 402, body: { code: "forward.underpaid" } });
    expect(await getReconciliation(t as never)).toEqual(before);
    const tasks = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
    expect(tasks.body).toMatchObject({ tasks: [] });
  }

  test("a direct peer may name unknown relays, up to the chain of three that the specification allows", async () => {
    expect(await sends(0.857375, [stranger(1), stranger(2)])).toMatchObject({ status: 202 });
  });

  test("a direct peer may not pay less than a chain of three allows, whatever it names", async () => {
    await expectRefused(() => sends(0.857374, [stranger(1), stranger(2), stranger(3)]));
  });

  test("a direct peer must pay the price after one fee for a listing whose federation_hops is 1", async () => {
    expect(await list(t, worker, { federation_hops: 1 })).toMatchObject({
      status: 200,
      body: { federation_hops: 1 },
    });
    await expectRefused(() => sends(0.857375, [stranger(1), stranger(2)]));
    await expectRefused(() => sends(0.949999, [stranger(1)]));
    expect(await sends(0.95, [stranger(1)])).toMatchObject({ status: 202 });
  });

  test("a direct peer may name one relay for a listing whose federation_hops is 2", async () => {
    await list(t, worker, { federation_hops: 2 });
    await expectRefused(() => sends(0.902499, [stranger(1), stranger(2)]));
    expect(await sends(0.9025, [stranger(1), stranger(2)])).toMatchObject({ status: 202 });
  });

  test("a direct peer may not name a peer of this relay without that peer's signature", async () => {
    const other = await createFakePeer(t).completeHandshake();
    await expectRefused(() => sends(0.9025, [other.relayId]));
    const own = other.createForward({ target_agent: worker.agentId, to: peer.relayId });
    const { task_payload: _, ...ofAnotherTask } = own;
    await expectRefused(() => sends(0.9025, [other.relayId], { relayed: ofAnotherTask }));
  });

  test("a direct peer may name a peer of this relay with that peer's signature, until it is removed", async () => {
    await list(t, worker, { federation_hops: 1 });
    const other = await createFakePeer(t).completeHandshake();
    const signed = () => {
      const came = other.createForward({ target_agent: worker.agentId, to: peer.relayId });
      const { task_payload: _, task_id, ...members } = came;
      return [task_id, { task_id, ...members }] as const;
    };
    const [task_id, first] = signed();
    const passed = await sends(0.9025, [other.relayId], { task_id, relayed: first });
    expect(passed).toMatchObject({ status: 202 });
    await other.remove();
    const [next, second] = signed();
    const late = await sends(0.9025, [other.relayId], { task_id: next, relayed: second });
    expect(late).toMatchObject({ status: 402, body: { code: "forward.underpaid" } });
  });

  test("a wrong member of a forward or a listing is named in the refusal", async () => {
    const wrong = await sends(0.95, [], { relayed: "none" });
    expect(wrong).toMatchObject({ status: 400, body: { code: "request.invalid" } });
    expect(wrong.text).toContain("relayed");
    for (const federation_hops of [0, 4, 1.5, "1"]) {
      const { status, text } = await list(t, worker, { federation_hops });
      expect(status).toBe(400);
      expect(text).toContain("federation_hops");
    }
  });
});

describe("A11: middle relays", () => {
  test("a relay in the middle shows the next relay the forward that it received, without the task", async () => {
    const t = await startTestRelay(federated);
    const { forward, passed } = await relayTask(t);
    const { task_payload, ...members } = forward;
    expect(passed).toMatchObject({ relayed: members, task_payload });
    await t.close();
  });

  test.each([
    ["an empty list of capabilities", { prompt: "work", required_capabilities: [] }],
    ["a member of a later version", { prompt: "work", tone: "polite" }],
  ])(
    "a relay in the middle passes on a task with %s unchanged, so that the signature stays valid",
    async (_, given) => {
      const t = await startTestRelay(federated);
      const { forward, passed, origin } = await relayTask(t, undefined, { task_payload: given });
      const { task_payload, ...members } = forward;
      expect(passed["task_payload"]).toEqual(task_payload);
      const { relayed: shown } = passed as { relayed: object };
      expect(shown).toEqual(members);
      expect(verifyJson({ ...shown, task_payload: given }, hexToBytes(origin.publicKey))).toBe(
        true,
      );
      await t.close();
    },
  );

  test("a relay in the middle omits the forward that it received if that is too large beside its task", async () => {
    const t = await startTestRelay(federated);
    const { passed } = await relayTask(t, undefined, { ballast: "x".repeat(16_384) });
    expect(passed).not.toHaveProperty("relayed");
    await t.close();
  });

  test.each([
    ["accepted, when it knows that relay, however few hops the listing allows", true, 1, "taken"],
    [
      "accepted, when that relay is unknown to it and the listing allows two hops",
      false,
      2,
      "taken",
    ],
    [
      "refused, when that relay is unknown to it and the listing allows one hop",
      false,
      1,
      "refused",
    ],
  ])(
    "a relay in the middle forwards a task that the next relay %s",
    async (_, isKnown, federation_hops, end) => {
      const network = await startNetwork(["beta", "gamma"], [[0, 1]]);
      const [b, c] = network.sites as [TestSite, TestSite];
      const worker = await c.createWorker(1);
      await list(c, worker, { federation_hops });
      const origin = await createFakePeer(b).completeHandshake();
      if (isKnown) await completeHandshakeWith(origin, c);
      // Beta knows the worker by its own search.
      await b.as(await b.createAgent(), "GET", `/api/v1/agents/${worker.agentId}`);
      const taken = await origin.forward({
        target_agent: worker.agentId,
        public_key: worker.publicKey,
        ...pays(0.95),
        routing_choice: {
          composite: 0.5,
          path: [...pathOf(origin.relayId, b.relayId, c.relayId).path, worker.agentId],
        },
      });
      expect(taken).toMatchObject({ status: 202 });
      const said = (what: string) => c.listLogged(`federation.task.${what}`);
      const [line] = await waitUntil(
        () => said(end).length > 0 && said(end),
        "the next one answers",
      );
      expect(line).toMatchObject({
        correlationId: taken.body["task_id"],
        ...(end === "refused" && { code: "forward.underpaid" }),
      });
      expect([...said("taken"), ...said("refused")]).toHaveLength(1);
      await network.close();
    },
  );
});

/** Completes a handshake of the same relay with another site. */
async function completeHandshakeWith(origin: FakePeer, site: TestSite): Promise<void> {
  const envelope = { timestamp: site.clock.now(), to: site.relayId };
  const send = (step: string, body: object) => {
    const at = `/federation/v1/peer/${step}`;
    return site.request("POST", at, { body, headers: origin.headers("POST", at, body) });
  };
  const nonce_a = "a".repeat(64);
  const proposed = await send("propose", { ...origin.selfDescription(), nonce_a, ...envelope });
  const confirmed = await send("confirm", {
    relay_id: origin.relayId,
    challenge_response: origin.signChallenge(proposed.body["nonce_b"]),
    ...envelope,
  });
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body));
}
