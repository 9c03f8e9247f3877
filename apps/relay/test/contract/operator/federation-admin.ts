import { createManualClock } from "@agent/testkit";
import { createFakePeer, type FakePeer } from "../../network/fake-peer.ts";
import { startListeningPeer, type ReceivedRequest } from "../../network/listening-peer.ts";
import { startSite, waitUntil } from "../../network/network.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import { federated, forwardTaskToPeer } from "./federation.ts";
import { withEnv, type Case, type Contract } from "../outcome.ts";

const path = "/api/v1/admin/federation";
const UNKNOWN_RELAY_ID = "019b7d21-53eb-7ccd-926c-3badff397111";

const whenFederated = (run: Case, env: Record<string, string> = {}) =>
  withEnv({ ...federated, ...env }, run);

const addPeer = (t: TestRelay, endpoint_url: string) =>
  t.asOperator("POST", `${path}/peers`, { endpoint_url });

/** Adds a relay that answers each step of the handshake with the given body. */
const addPeerAnswering = (
  reply: (asked: ReceivedRequest, peer: FakePeer, t: TestRelay) => unknown,
  env: Record<string, string> = {},
) =>
  whenFederated(async (t) => {
    const peer = createFakePeer(t);
    const listening = await startListeningPeer((asked) => reply(asked, peer, t));
    const added = await addPeer(t, listening.url);
    await listening.close();
    return added;
  }, env);

const identity = ({ relayId, publicKey }: FakePeer) => ({
  agent_id: relayId,
  public_key: publicKey,
  did: "did:key:z",
});

/** Runs a case with a settlement that the peer never confirmed and about which it cannot be asked. */
const withFailedSettlement = (run: (t: TestRelay, settlementId: string) => Promise<Reply>) =>
  whenFederated(
    async (t) => {
      const away = await forwardTaskToPeer(t);
      await away.peer.post("/federation/v1/task/result", away.peer.createResult(away.receipt));
      const reply = await run(t, await waitForFailedSettlement(t));
      await away.listening.close();
      return reply;
    },
    { AGENT_FEDERATION_RETRY_SCALE: "0.001" },
  );

/** Advances the clock until the only settlement has failed and waits for the operator. */
export function waitForFailedSettlement(t: TestRelay): Promise<string> {
  return waitUntil(async () => {
    await t.clock.advance(1_000);
    await t.relay.tick();
    const { body } = await t.asOperator("GET", `${path}/outbox?state=failed`);
    const [first] = body["settlements"] as { settlement_id: string }[];
    return first?.settlement_id;
  }, "the settlement is held");
}

const request =
  (method: string, under: string, body?: unknown): Case =>
  (t) =>
    t.asOperator(method, `${path}${under}`, body);

const payment = { amount: 1, direction: "received", reference: "wire 1" };
const reason = { reason: "lost" };

/** The outcomes of reading a list about a peer. */
const askOfPeer = (list: string) => ({
  200: whenFederated(async (t) => {
    const { relayId } = await createFakePeer(t).completeHandshake();
    await t.asOperator("POST", `${path}/peers/${relayId}/settle`, payment);
    return t.asOperator("GET", `${path}/peers/${relayId}/${list}`);
  }),
  "federation.disabled": request("GET", `/peers/${UNKNOWN_RELAY_ID}/${list}`),
  "peer.not_found": whenFederated(request("GET", `/peers/${UNKNOWN_RELAY_ID}/${list}`)),
  "request.invalid": whenFederated(async (t) => {
    const { relayId } = await createFakePeer(t).completeHandshake();
    return t.asOperator("GET", `${path}/peers/${relayId}/${list}?cursor=%20`);
  }),
});

export const federationAdminContract: Contract<
  | "addPeer"
  | "listFederationPeers"
  | "setPeerCredit"
  | "removePeer"
  | "clearPeerDefaults"
  | "settlePeer"
  | "listPeerPayments"
  | "listPeerHistory"
  | "listOutbox"
  | "retryOutbox"
  | "giveUpOutbox"
> = {
  addPeer: {
    200: whenFederated((t) => addSite(t)),
    "federation.disabled": request("POST", "/peers", { endpoint_url: "http://127.0.0.1:1" }),
    "peer.own_identity": addPeerAnswering((_, peer, t) => ({
      ...identity(peer),
      agent_id: t.relay.relayId,
    })),
    "peer.blocked": addPeerAnswering(
      (_, peer) => ({ ...identity(peer), agent_id: UNKNOWN_RELAY_ID }),
      {
        AGENT_FEDERATION_BLOCKED_PEERS: UNKNOWN_RELAY_ID,
      },
    ),
    "peer.not_allowed": addPeerAnswering((_, peer) => identity(peer), {
      AGENT_FEDERATION_ALLOWED_PEERS: UNKNOWN_RELAY_ID,
    }),
    "peer.exists": whenFederated(async (t) =>
      addPeerWith(t, identity(await createFakePeer(t).completeHandshake())),
    ),
    "peer.key_changed": whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      return addPeerWith(t, { ...identity(createFakePeer(t)), agent_id: relayId });
    }),
    "peer.limit_reached": addPeerAnswering((_, peer) => identity(peer), {
      AGENT_FEDERATION_MAX_PEERS: "0",
    }),
    "peer.identity_mismatch": addPeerAnswering(({ path: asked }, peer, t) =>
      asked.endsWith("/identity") ? identity(peer) : proposalAnswer(createFakePeer(t)),
    ),
    "peer.challenge_invalid": addPeerAnswering(({ path: asked }, peer) =>
      asked.endsWith("/identity") ? identity(peer) : proposalAnswer(peer),
    ),
    "peer.unreachable": whenFederated((t) => addPeer(t, "http://127.0.0.1:1")),
    "peer.refused": whenFederated((t) => addSite(t, { AGENT_FEDERATION_MAX_PEERS: "0" })),
  },

  listFederationPeers: {
    200: whenFederated(async (t) => {
      await createFakePeer(t).completeHandshake();
      await createFakePeer(t).propose();
      return t.asOperator("GET", `${path}/peers`);
    }),
    "federation.disabled": request("GET", "/peers"),
  },

  setPeerCredit: {
    200: whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      return t.asOperator("PUT", `${path}/peers/${relayId}`, { credit_limit: 5 });
    }),
    "federation.disabled": request("PUT", `/peers/${UNKNOWN_RELAY_ID}`, { credit_limit: 5 }),
    "peer.not_found": whenFederated(
      request("PUT", `/peers/${UNKNOWN_RELAY_ID}`, { credit_limit: 5 }),
    ),
  },

  removePeer: {
    200: whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      return t.asOperator("DELETE", `${path}/peers/${relayId}`);
    }),
    "federation.disabled": request("DELETE", `/peers/${UNKNOWN_RELAY_ID}`),
    "peer.not_found": whenFederated(request("DELETE", `/peers/${UNKNOWN_RELAY_ID}`)),
  },

  clearPeerDefaults: {
    200: whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      return t.asOperator("POST", `${path}/peers/${relayId}/clear-defaults`, reason);
    }),
    "federation.disabled": request("POST", `/peers/${UNKNOWN_RELAY_ID}/clear-defaults`, reason),
    "peer.not_found": whenFederated(
      request("POST", `/peers/${UNKNOWN_RELAY_ID}/clear-defaults`, reason),
    ),
  },

  settlePeer: {
    200: whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      return t.asOperator("POST", `${path}/peers/${relayId}/settle`, payment);
    }),
    "federation.disabled": request("POST", `/peers/${UNKNOWN_RELAY_ID}/settle`, payment),
    "peer.not_found": whenFederated(request("POST", `/peers/${UNKNOWN_RELAY_ID}/settle`, payment)),
    "clearing.limit_exceeded": whenFederated(async (t) => {
      const { relayId } = await createFakePeer(t).completeHandshake();
      const sent = { ...payment, amount: 1_000.000001, direction: "sent" };
      return t.asOperator("POST", `${path}/peers/${relayId}/settle`, sent);
    }),
  },

  listPeerPayments: askOfPeer("payments"),
  listPeerHistory: askOfPeer("history"),

  listOutbox: {
    200: withFailedSettlement(request("GET", "/outbox")),
    "federation.disabled": request("GET", "/outbox"),
    "request.invalid": whenFederated(request("GET", "/outbox?cursor=%20")),
  },

  retryOutbox: {
    200: withFailedSettlement((t, id) => t.asOperator("POST", `${path}/outbox/${id}/retry`)),
    "federation.disabled": request("POST", `/outbox/${UNKNOWN_RELAY_ID}/retry`),
    "outbox.not_found": whenFederated(request("POST", `/outbox/${UNKNOWN_RELAY_ID}/retry`)),
    "outbox.not_open": withFailedSettlement(async (t, id) => {
      await t.asOperator("POST", `${path}/outbox/${id}/give-up`, reason);
      return t.asOperator("POST", `${path}/outbox/${id}/retry`);
    }),
  },

  giveUpOutbox: {
    200: withFailedSettlement((t, id) =>
      t.asOperator("POST", `${path}/outbox/${id}/give-up`, reason),
    ),
    "federation.disabled": request("POST", `/outbox/${UNKNOWN_RELAY_ID}/give-up`, reason),
    "outbox.not_found": whenFederated(
      request("POST", `/outbox/${UNKNOWN_RELAY_ID}/give-up`, reason),
    ),
    "outbox.not_open": withFailedSettlement(async (t, id) => {
      await t.asOperator("POST", `${path}/outbox/${id}/give-up`, reason);
      return t.asOperator("POST", `${path}/outbox/${id}/give-up`, reason);
    }),
  },
};

async function addSite(t: TestRelay, env: Record<string, string> = {}): Promise<Reply> {
  const site = await startSite({
    name: "beta",
    clock: createManualClock(t.clock.now()),
    seed: 9,
    env,
  });
  const added = await addPeer(t, site.url);
  await site.close();
  return added;
}

async function addPeerWith(t: TestRelay, answer: object): Promise<Reply> {
  const listening = await startListeningPeer(() => answer);
  const added = await addPeer(t, listening.url);
  await listening.close();
  return added;
}

/** Builds the answer to a proposal, with a challenge that was signed for another nonce. */
function proposalAnswer(peer: FakePeer) {
  const nonce = "0".repeat(64);
  return { ...peer.selfDescription(), nonce_b: nonce, challenge: peer.signChallenge(nonce) };
}
