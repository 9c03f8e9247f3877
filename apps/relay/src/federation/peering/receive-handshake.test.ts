import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  federated,
  getPosition,
  proposePeer,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

describe("a malformed proposal", () => {
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
  ])("FE7: a proposal is refused without any signature of ours when its %s", async (_, change) => {
    const reply = await expectHarmless(t, "request.invalid", () =>
      createFakePeer(t).propose(change),
    );
    expect(JSON.stringify(reply.body)).not.toMatch(/[\w-]{86}/);
  });
});

describe("a proposal under a known id", () => {
  test.each<[string, string, () => Promise<Reply>]>([
    ["under its id with another key", "peer.key_changed", () => proposePeer(t, peer.relayId)],
    ["of its own", "peer.exists", () => peer.propose()],
    ["under this relay's id", "peer.own_identity", () => proposePeer(t, t.relay.relayId)],
  ])("FE8: a live peer is not overwritten by a proposal %s", async (_, code, attempt) => {
    await expectHarmless(t, code, attempt);
    expect(await peer.heartbeat()).toMatchObject({ status: 200 });
  });

  test("FE8: the id of a removed peer stays bound to its key", async () => {
    await peer.remove();
    await expectHarmless(t, "peer.key_changed", () => proposePeer(t, peer.relayId));
  });
});

describe("a confirmation", () => {
  const confirmPath = `${BASE_PATH}/peer/confirm`;
  const begin = async () => {
    const fresh = createFakePeer(t);
    const { body } = await fresh.propose();
    const confirm = (challenge_response: unknown, timestamp = t.clock.now()) =>
      fresh.post(confirmPath, { relay_id: fresh.relayId, challenge_response, timestamp });
    return { fresh, answer: body, confirm };
  };

  test.each(["answers another nonce", "reflects our own challenge"])(
    "FE9: a confirmation that %s ends the handshake",
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

  test("FE9: a confirmation that answers another session's nonce is refused", async () => {
    const [one, two] = [await begin(), await begin()];
    const crossed = one.fresh.signChallenge(two.answer["nonce_b"]);
    expect((await one.confirm(crossed)).body).toMatchObject({ code: "peer.challenge_invalid" });
  });

  test("FE9: a confirmation that comes twice is accepted once, and one without a proposal not at all", async () => {
    const { fresh, answer, confirm } = await begin();
    const right = fresh.signChallenge(answer["nonce_b"]);
    expect(await confirm(right)).toMatchObject({ status: 200, body: { status: "active" } });
    expect((await confirm(right, t.clock.now() + 1)).body).toMatchObject({
      code: "peer.not_pending",
    });
  });

  test("FE9: a confirmation that comes after 5 minutes is too late", async () => {
    const { fresh, answer, confirm } = await begin();
    await t.clock.advance(300_001);
    const right = fresh.signChallenge(answer["nonce_b"]);
    expect((await confirm(right)).body).toMatchObject({ code: "peer.not_pending" });
  });
});

describe("admission", () => {
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
  ])("FE10: admission refuses %s", async (_, status, error, env) => {
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
