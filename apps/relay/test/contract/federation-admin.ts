import { manualClock } from "@agent/testkit";
import { fakePeer, type FakePeer } from "../fake-peer.ts";
import { answering, type Asked } from "../listening-peer.ts";
import { startSite, until } from "../network.ts";
import type { Reply, TestRelay } from "../test-relay.ts";
import { federated, forwardedAway } from "./federation.ts";
import { configured, type Case, type Contract } from "./outcome.ts";

const path = "/api/v1/admin/federation";
const unknownRelay = "019b7d21-53eb-7ccd-926c-3badff397111";

const on = (run: Case, env: Record<string, string> = {}) =>
  configured({ ...federated, ...env }, run);

const add = (t: TestRelay, endpoint_url: string) =>
  t.asMaster("POST", `${path}/peers`, { endpoint_url });

/** Adding a relay that answers each step as it is told. */
const adding = (
  reply: (asked: Asked, peer: FakePeer, t: TestRelay) => unknown,
  env: Record<string, string> = {},
) =>
  on(async (t) => {
    const peer = fakePeer(t);
    const listening = await answering((asked) => reply(asked, peer, t));
    const added = await add(t, listening.url);
    await listening.close();
    return added;
  }, env);

const identity = ({ relayId, publicKey }: FakePeer) => ({
  agent_id: relayId,
  public_key: publicKey,
  did: "did:key:z",
});

/** With a settlement that the peer never confirmed, and which it cannot be asked about. */
const withHeld = (run: (t: TestRelay, settlementId: string) => Promise<Reply>) =>
  on(
    async (t) => {
      const away = await forwardedAway(t);
      await away.peer.post("/federation/v1/task/result", away.peer.resultOf(away.receipt));
      const reply = await run(t, await untilHeld(t));
      await away.listening.close();
      return reply;
    },
    { AGENT_FEDERATION_RETRY_SCALE: "0.001" },
  );

/** Lets time pass until the only settlement has failed and waits for the operator. */
export function untilHeld(t: TestRelay): Promise<string> {
  return until(async () => {
    await t.clock.advance(1_000);
    await t.relay.tick();
    const { body } = await t.asMaster("GET", `${path}/outbox?state=failed`);
    const [first] = body["settlements"] as { settlement_id: string }[];
    return first?.settlement_id;
  }, "the settlement is held");
}

const request =
  (method: string, under: string, body?: unknown): Case =>
  (t) =>
    t.asMaster(method, `${path}${under}`, body);

const payment = { amount: 1, direction: "received", reference: "wire 1" };
const reason = { reason: "lost" };

export const federationAdminContract: Contract<
  | "addPeer"
  | "listFederationPeers"
  | "setPeerCredit"
  | "removePeer"
  | "clearPeerDefaults"
  | "settlePeer"
  | "listOutbox"
  | "retryOutbox"
  | "giveUpOutbox"
> = {
  addPeer: {
    200: on((t) => addSite(t)),
    "federation.disabled": request("POST", "/peers", { endpoint_url: "http://127.0.0.1:1" }),
    "peer.own_identity": adding((_, peer, t) => ({ ...identity(peer), agent_id: t.relay.relayId })),
    "peer.blocked": adding((_, peer) => ({ ...identity(peer), agent_id: unknownRelay }), {
      AGENT_FEDERATION_BLOCKED_PEERS: unknownRelay,
    }),
    "peer.not_allowed": adding((_, peer) => identity(peer), {
      AGENT_FEDERATION_ALLOWED_PEERS: unknownRelay,
    }),
    "peer.exists": on(async (t) => addAs(t, identity(await fakePeer(t).befriend()))),
    "peer.key_changed": on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      return addAs(t, { ...identity(fakePeer(t)), agent_id: relayId });
    }),
    "peer.limit_reached": adding((_, peer) => identity(peer), {
      AGENT_FEDERATION_MAX_PEERS: "0",
    }),
    "peer.identity_mismatch": adding(({ path: asked }, peer, t) =>
      asked.endsWith("/identity") ? identity(peer) : proposalAnswer(fakePeer(t)),
    ),
    "peer.challenge_invalid": adding(({ path: asked }, peer) =>
      asked.endsWith("/identity") ? identity(peer) : proposalAnswer(peer),
    ),
    "peer.unreachable": on((t) => add(t, "http://127.0.0.1:1")),
    "peer.refused": on((t) => addSite(t, { AGENT_FEDERATION_MAX_PEERS: "0" })),
  },

  listFederationPeers: {
    200: on(async (t) => {
      await fakePeer(t).befriend();
      await fakePeer(t).propose();
      return t.asMaster("GET", `${path}/peers`);
    }),
    "federation.disabled": request("GET", "/peers"),
  },

  setPeerCredit: {
    200: on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      return t.asMaster("PUT", `${path}/peers/${relayId}`, { credit_limit: 5 });
    }),
    "federation.disabled": request("PUT", `/peers/${unknownRelay}`, { credit_limit: 5 }),
    "peer.not_found": on(request("PUT", `/peers/${unknownRelay}`, { credit_limit: 5 })),
  },

  removePeer: {
    200: on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      return t.asMaster("DELETE", `${path}/peers/${relayId}`);
    }),
    "federation.disabled": request("DELETE", `/peers/${unknownRelay}`),
    "peer.not_found": on(request("DELETE", `/peers/${unknownRelay}`)),
  },

  clearPeerDefaults: {
    200: on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      return t.asMaster("POST", `${path}/peers/${relayId}/clear-defaults`, reason);
    }),
    "federation.disabled": request("POST", `/peers/${unknownRelay}/clear-defaults`, reason),
    "peer.not_found": on(request("POST", `/peers/${unknownRelay}/clear-defaults`, reason)),
  },

  settlePeer: {
    200: on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      return t.asMaster("POST", `${path}/peers/${relayId}/settle`, payment);
    }),
    "federation.disabled": request("POST", `/peers/${unknownRelay}/settle`, payment),
    "peer.not_found": on(request("POST", `/peers/${unknownRelay}/settle`, payment)),
    "clearing.limit_exceeded": on(async (t) => {
      const { relayId } = await fakePeer(t).befriend();
      const sent = { ...payment, amount: 1_000.000001, direction: "sent" };
      return t.asMaster("POST", `${path}/peers/${relayId}/settle`, sent);
    }),
  },

  listOutbox: {
    200: withHeld(request("GET", "/outbox")),
    "federation.disabled": request("GET", "/outbox"),
    "request.invalid": on(request("GET", "/outbox?cursor=%20")),
  },

  retryOutbox: {
    200: withHeld((t, id) => t.asMaster("POST", `${path}/outbox/${id}/retry`)),
    "federation.disabled": request("POST", `/outbox/${unknownRelay}/retry`),
    "outbox.not_found": on(request("POST", `/outbox/${unknownRelay}/retry`)),
    "outbox.not_open": withHeld(async (t, id) => {
      await t.asMaster("POST", `${path}/outbox/${id}/give-up`, reason);
      return t.asMaster("POST", `${path}/outbox/${id}/retry`);
    }),
  },

  giveUpOutbox: {
    200: withHeld((t, id) => t.asMaster("POST", `${path}/outbox/${id}/give-up`, reason)),
    "federation.disabled": request("POST", `/outbox/${unknownRelay}/give-up`, reason),
    "outbox.not_found": on(request("POST", `/outbox/${unknownRelay}/give-up`, reason)),
    "outbox.not_open": withHeld(async (t, id) => {
      await t.asMaster("POST", `${path}/outbox/${id}/give-up`, reason);
      return t.asMaster("POST", `${path}/outbox/${id}/give-up`, reason);
    }),
  },
};

async function addSite(t: TestRelay, env: Record<string, string> = {}): Promise<Reply> {
  const site = await startSite({ name: "beta", clock: manualClock(t.clock.now()), seed: 9, env });
  const added = await add(t, site.url);
  await site.close();
  return added;
}

async function addAs(t: TestRelay, told: object): Promise<Reply> {
  const listening = await answering(() => told);
  const added = await add(t, listening.url);
  await listening.close();
  return added;
}

/** An answer to a proposal whose challenge answers another nonce. */
function proposalAnswer(peer: FakePeer) {
  const nonce = "0".repeat(64);
  return { ...peer.introduction(), nonce_b: nonce, challenge: peer.answer(nonce) };
}
