import { publicKeyToDidKey, hexToBytes, signJson } from "@agent/crypto";
import { receiptHash } from "@agent/receipts";
import { limits } from "@agent/wire";
import { fakePeer, type FakePeer } from "../fake-peer.ts";
import { answering } from "../listening-peer.ts";
import { until } from "../network.ts";
import { receiptOf, type Reply, type TestRelay } from "../test-relay.ts";
import { configured, edited, type Case, type Contract } from "./outcome.ts";

export const federated = {
  AGENT_FEDERATION_ENDPOINT_URL: "http://127.0.0.1:1",
  AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
};
const on = (run: Case, env: Record<string, string> = {}) =>
  configured({ ...federated, ...env }, run);
const base = "/federation/v1";
const unknownRelay = "019b7d21-53eb-7ccd-926c-3badff397111";

/** A case with a peer that has shaken hands. */
const withPeer = (run: (t: TestRelay, peer: FakePeer) => Promise<Reply>, env = {}) =>
  on(async (t) => run(t, await fakePeer(t).befriend()), env);

/** The last of two equal requests. */
const twice = async (send: () => Promise<Reply>): Promise<Reply> => {
  await send();
  return send();
};

/** A peer that has missed three heartbeats. */
export async function suspend(t: TestRelay, { relayId }: FakePeer): Promise<void> {
  for (let missed = 1; missed <= 3; missed += 1) {
    await t.clock.advance(60_000);
    await t.relay.tick();
    await until(async () => {
      const { body } = await t.asMaster("GET", "/api/v1/admin/federation/peers");
      const peers = body["peers"] as { relay_id: string; missed_heartbeats: number }[];
      return peers.find(({ relay_id }) => relay_id === relayId)?.missed_heartbeats === missed;
    }, `heartbeat ${missed}`);
  }
}

/** A task of the peer's that a worker of this relay has done. */
export async function doneForPeer(t: TestRelay, peer: FakePeer, status?: "failed") {
  const worker = await t.worker(1);
  const body = peer.forwardOf({ target_agent: worker.agentId, public_key: worker.publicKey });
  const taken = await peer.post(`${base}/task/forward`, body);
  if (taken.status !== 202) throw new Error(JSON.stringify(taken.body));
  const taskId = String(body["task_id"]);
  const path = `/agent/${worker.agentId}/task/${taskId}`;
  const { body: poll } = await t.as(worker, "GET", path);
  const receipt = receiptOf(worker, poll["task"] as never, status === undefined ? {} : { status });
  await t.as(worker, "POST", `${path}/result`, receipt);
  const settlement = {
    task_id: taskId,
    agent_id: worker.agentId,
    receipt_hash: receiptHash(receipt),
  };
  return { worker, taskId, receipt, settlement, forward: body };
}

const settles =
  (change: (done: Awaited<ReturnType<typeof doneForPeer>>) => object, status?: "failed") =>
  async (t: TestRelay, peer: FakePeer) => {
    const done = await doneForPeer(t, peer, status);
    const body = peer.settlementOf({ ...done.settlement, ...change(done) });
    return peer.post(`${base}/settlement/forward`, body);
  };

/** A task of an agent here that was forwarded to a listening peer, whose worker is no agent here. */
export async function forwardedAway(
  t: TestRelay,
  price = 1,
  /** What the peer answers when it is asked to cancel; without it the peer knows no cancel. */
  onCancel?: (taskId: string) => object | undefined,
) {
  const worker = t.stranger();
  const listening = await answering(({ path, body }) => {
    if (path.endsWith("/discover")) {
      return {
        agents: [
          {
            agent_id: worker.agentId,
            public_key: worker.publicKey,
            capabilities: ["summarise"],
            pricing:
              price === 0 ? [] : [{ capability: "summarise", unit_cost: price, currency: "USD" }],
            trust: 0.9,
            availability: 1,
          },
        ],
      };
    }
    if (path.endsWith("/task/forward")) return { task_id: body["task_id"], status: "pending" };
    if (path.endsWith("/task/cancel")) return onCancel?.(String(body["task_id"]));
    return path.endsWith("/identity") ? {} : undefined;
  });
  const peer = await fakePeer(t, listening.url).befriend({
    features: onCancel === undefined ? [] : ["cancel"],
  });
  const boss = await t.agent();
  await t.deposit(boss, 10);
  const submitted = await t.as(boss, "POST", `/agent/${boss.agentId}/task`, {
    prompt: "work",
    required_capabilities: ["summarise"],
  });
  if (submitted.status !== 201) throw new Error(JSON.stringify(submitted.body));
  const taskId = String(submitted.body["task_id"]);
  await until(() => listening.asked.find(({ path }) => path.endsWith("/task/forward")), "forward");
  await until(async () => {
    const { body } = await t.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
    return (body["task"] as { status: string }).status === "claimed";
  });
  const task = { task_id: taskId, prompt: "work", submitted_at: t.clock.now() };
  return { boss, worker, peer, listening, task, receipt: receiptOf(worker, task) };
}

type Away = Awaited<ReturnType<typeof forwardedAway>>;

const returns = (run: (away: Away, t: TestRelay) => Promise<Reply>) =>
  on(async (t) => {
    const away = await forwardedAway(t);
    try {
      return await run(away, t);
    } finally {
      await away.listening.close();
    }
  });

const resultPath = `${base}/task/result`;
const cancelPath = `${base}/task/cancel`;

const cancelOf = ({ relayId }: FakePeer, task_id: string) => ({ task_id, origin_relay: relayId });

/** A task of the peer's that waits for a worker of this relay. */
async function takenFrom(t: TestRelay, peer: FakePeer) {
  const worker = await t.worker(1);
  const body = peer.forwardOf({ target_agent: worker.agentId, public_key: worker.publicKey });
  const taken = await peer.post(`${base}/task/forward`, body);
  if (taken.status !== 202) throw new Error(JSON.stringify(taken.body));
  return { worker, taskId: String(body["task_id"]) };
}

export const federationContract: Contract<
  | "relayIdentity"
  | "proposePeer"
  | "confirmPeer"
  | "peerHeartbeat"
  | "removeSelf"
  | "listPeers"
  | "forwardDiscovery"
  | "forwardTask"
  | "cancelForwardedTask"
  | "returnResult"
  | "forwardSettlement"
  | "listBooked"
> = {
  relayIdentity: { 200: on((t) => t.request("GET", `${base}/identity`)) },

  proposePeer: {
    200: on((t) => fakePeer(t).propose()),
    "federation.peer_removed": withPeer(async (t, peer) => {
      await t.asMaster("DELETE", `/api/v1/admin/federation/peers/${peer.relayId}`);
      return peer.propose();
    }),
    "peer.own_identity": on((t) => proposeAs(t, t.relay.relayId)),
    "peer.blocked": on((t) => proposeAs(t, unknownRelay), {
      AGENT_FEDERATION_BLOCKED_PEERS: unknownRelay,
    }),
    "peer.not_allowed": on((t) => fakePeer(t).propose(), {
      AGENT_FEDERATION_ALLOWED_PEERS: unknownRelay,
    }),
    "peer.exists": withPeer((_, peer) => peer.propose()),
    "peer.key_changed": withPeer((t, peer) => proposeAs(t, peer.relayId)),
    "peer.limit_reached": on((t) => fakePeer(t).propose(), { AGENT_FEDERATION_MAX_PEERS: "0" }),
    "peer.identity_mismatch": on(async (t) => {
      const [liar, victim] = [fakePeer(t), fakePeer(t)];
      const listening = await answering(() => ({
        agent_id: victim.relayId,
        public_key: victim.publicKey,
        did: publicKeyToDidKey(hexToBytes(victim.publicKey)),
      }));
      const reply = await liar.propose({ endpoint_url: listening.url });
      await listening.close();
      return reply;
    }),
    "federation.wrong_sender": on((t) => fakePeer(t).propose({ relay_id: unknownRelay })),
    "federation.replayed": on((t) => {
      const peer = fakePeer(t);
      const body = { ...peer.introduction(), nonce_a: "0".repeat(64) };
      return twice(() => peer.post(`${base}/peer/propose`, body));
    }),
  },

  confirmPeer: {
    200: on(async (t) => confirm(fakePeer(t))),
    "peer.not_pending": on((t) => {
      const peer = fakePeer(t);
      return peer.post(`${base}/peer/confirm`, confirmation(peer, "0".repeat(64)));
    }),
    "peer.identity_mismatch": on((t) => confirm(fakePeer(t), { relay_id: unknownRelay })),
    "peer.challenge_invalid": on((t) => {
      const peer = fakePeer(t);
      return confirm(peer, { challenge_response: peer.answer("0".repeat(64)) });
    }),
    "federation.peer_removed": withPeer(async (t, peer) => {
      await peer.remove();
      await t.clock.advance(1);
      const { body } = await peer.propose();
      await t.asMaster("DELETE", `/api/v1/admin/federation/peers/${peer.relayId}`);
      return peer.post(`${base}/peer/confirm`, confirmation(peer, body["nonce_b"]));
    }),
    "peer.limit_reached": on(
      async (t) => {
        const late = fakePeer(t);
        const { body } = await late.propose();
        await fakePeer(t).befriend();
        return late.post(`${base}/peer/confirm`, confirmation(late, body["nonce_b"]));
      },
      { AGENT_FEDERATION_MAX_PEERS: "1" },
    ),
    "federation.replayed": on(async (t) => {
      const peer = fakePeer(t);
      const { body } = await peer.propose();
      const message = confirmation(peer, body["nonce_b"]);
      await peer.post(`${base}/peer/confirm`, message);
      await peer.remove();
      await t.clock.advance(1);
      await peer.propose();
      return peer.post(`${base}/peer/confirm`, message);
    }),
  },

  peerHeartbeat: {
    200: withPeer((_, peer) => peer.heartbeat()),
    "peer.timestamp_stale": withPeer((t, peer) => twice(() => peer.heartbeat(t.clock.now()))),
    "federation.wrong_sender": withPeer((_, peer) =>
      peer.heartbeat(undefined, { relay_id: unknownRelay }),
    ),
  },

  removeSelf: {
    200: withPeer((_, peer) => peer.remove()),
    "peer.timestamp_stale": withPeer(async (t, peer) => {
      await peer.heartbeat(t.clock.now() + 10);
      return peer.remove(t.clock.now() + 5);
    }),
    "federation.wrong_sender": withPeer((t, peer) => {
      const notice = { relay_id: unknownRelay, timestamp: t.clock.now() + 1 };
      return peer.post(`${base}/peer/remove`, signJson(notice, peer.secretKey));
    }),
  },

  listPeers: {
    200: withPeer((_, peer) => peer.get(`${base}/peers`)),
    "federation.replayed": withPeer((_, peer) => twice(() => peer.get(`${base}/peers`))),
  },

  forwardDiscovery: {
    200: withPeer(async (t, peer) => {
      await t.worker(1);
      return peer.post(`${base}/discover`, queryOf(peer));
    }),
    "peer.suspended": withPeer(async (t, peer) => {
      await suspend(t, peer);
      return peer.post(`${base}/discover`, queryOf(peer));
    }),
  },

  forwardTask: {
    202: withPeer(async (t, peer) => peer.forward({ target_agent: (await t.worker(1)).agentId })),
    "peer.suspended": withPeer(async (t, peer) => {
      await suspend(t, peer);
      return peer.forward();
    }),
    "federation.wrong_sender": withPeer((_, peer) => peer.forward({ origin_relay: unknownRelay })),
    "forward.duplicate": withPeer(async (t, peer) => {
      const body = peer.forwardOf({ target_agent: (await t.worker(1)).agentId });
      return twice(() => peer.post(`${base}/task/forward`, body));
    }),
    "forward.looped": withPeer((t, peer) =>
      peer.forward({
        routing_choice: {
          composite: 1,
          path: ["self", `relay:${t.relay.relayId}`, `relay:${peer.relayId}`],
        },
      }),
    ),
    "forward.expired": withPeer(async (t, peer) =>
      peer.forward({
        target_agent: (await t.worker(1)).agentId,
        expires_at: t.clock.now(),
      }),
    ),
    "forward.agent_not_found": withPeer((_, peer) => peer.forward()),
    "forward.key_mismatch": withPeer(async (t, peer) =>
      peer.forward({ target_agent: (await t.worker(1)).agentId, public_key: peer.publicKey }),
    ),
    "forward.not_offered": withPeer(async (t, peer) =>
      peer.forward({
        target_agent: (await t.worker(1)).agentId,
        task_payload: { prompt: "work", required_capabilities: ["other"] },
      }),
    ),
    "forward.underpaid": withPeer(async (t, peer) =>
      peer.forward({
        target_agent: (await t.worker(1)).agentId,
        budget: { amount: 0.949999, currency: "USD" },
      }),
    ),
    "clearing.limit_exceeded": withPeer(
      async (t, peer) => peer.forward({ target_agent: (await t.worker(1)).agentId }),
      { AGENT_FEDERATION_CREDIT_LIMIT: "0.94" },
    ),
    "task.relay_full": crowded(`INSERT INTO task_counters VALUES ('all', ${limits.liveTasks})`),
    "task.submitter_full": crowded(`
      CREATE TRIGGER crowd AFTER INSERT ON task_counters WHEN new.scope LIKE 'by:relay:%' BEGIN
        UPDATE task_counters SET live = ${limits.liveTasksPerSubmitter} WHERE scope = new.scope;
      END`),
  },

  cancelForwardedTask: {
    200: withPeer(async (t, peer) => {
      const { taskId } = await takenFrom(t, peer);
      return peer.post(cancelPath, cancelOf(peer, taskId));
    }),
    202: withPeer(async (t, peer) => {
      const { taskId, worker } = await takenFrom(t, peer);
      await t.as(worker, "POST", `/agent/${worker.agentId}/task/${taskId}/claim`);
      return peer.post(cancelPath, cancelOf(peer, taskId));
    }),
    "federation.wrong_sender": withPeer((_, peer) =>
      peer.post(cancelPath, { ...cancelOf(peer, unknownRelay), origin_relay: unknownRelay }),
    ),
    "cancel.task_not_found": withPeer((_, peer) =>
      peer.post(cancelPath, cancelOf(peer, unknownRelay)),
    ),
    "cancel.wrong_peer": withPeer(async (t, peer) => {
      const { taskId } = await takenFrom(t, peer);
      const other = await fakePeer(t).befriend();
      return other.post(cancelPath, cancelOf(other, taskId));
    }),
    "cancel.already_finished": withPeer(async (t, peer) => {
      const { taskId } = await doneForPeer(t, peer);
      return peer.post(cancelPath, cancelOf(peer, taskId));
    }),
  },

  returnResult: {
    200: returns(({ peer, receipt }) => peer.post(resultPath, peer.resultOf(receipt))),
    202: on(async (t) => (await relayed(t)).reply),
    "federation.wrong_sender": returns(({ peer, receipt }) =>
      peer.post(resultPath, peer.resultOf(receipt, { origin_relay: unknownRelay })),
    ),
    "result.task_not_found": returns(({ peer, receipt }) =>
      peer.post(resultPath, peer.resultOf({ ...receipt, task_id: unknownRelay })),
    ),
    "result.wrong_peer": returns(async ({ receipt }, t) => {
      const other = await fakePeer(t).befriend();
      return other.post(resultPath, other.resultOf(receipt));
    }),
    "result.already_finished": returns(async ({ peer, receipt, worker, task }) => {
      await peer.post(resultPath, peer.resultOf(receipt));
      return peer.post(resultPath, peer.resultOf(receiptOf(worker, task, { result: "other" })));
    }),
    "result.key_mismatch": returns(({ peer, receipt }) =>
      peer.post(resultPath, peer.resultOf(receipt, { public_key: peer.publicKey })),
    ),
    "result.receipt_invalid": returns(({ peer, receipt }) =>
      peer.post(resultPath, peer.resultOf({ ...receipt, result: "other" })),
    ),
    "result.attestation_invalid": returns(({ peer, receipt }) =>
      peer.post(resultPath, peer.resultOf(receipt, { attestation: {} })),
    ),
  },

  forwardSettlement: {
    200: withPeer(settles(() => ({}))),
    "federation.wrong_sender": withPeer(settles(() => ({ origin_relay: unknownRelay }))),
    "clearing.limit_exceeded": withPeer(async (t, peer) => {
      const done = await doneForPeer(t, peer);
      // Nobody settled for as long as it takes a hold to lapse, and then the credit was taken away.
      await t.clock.advance(86_400_000);
      await peer.heartbeat();
      await until(async () => {
        await t.relay.tick();
        return (await positionOf(t, peer)) === 0;
      }, "the hold lapses");
      const path = `/api/v1/admin/federation/peers/${peer.relayId}`;
      await t.asMaster("PUT", path, { credit_limit: 0 });
      return peer.post(`${base}/settlement/forward`, peer.settlementOf(done.settlement));
    }),
    "settlement.not_owed": withPeer((_, peer) =>
      peer.post(
        `${base}/settlement/forward`,
        peer.settlementOf({
          task_id: unknownRelay,
          agent_id: unknownRelay,
          receipt_hash: "0".repeat(64),
        }),
      ),
    ),
    "settlement.not_completed": withPeer(settles(() => ({}), "failed")),
    "settlement.already_settled": withPeer(async (t, peer) => {
      const { settlement } = await doneForPeer(t, peer);
      return twice(() => peer.post(`${base}/settlement/forward`, peer.settlementOf(settlement)));
    }),
    "settlement.amount_mismatch": withPeer(settles(() => ({ amount: 0.96 }))),
    "settlement.receipt_mismatch": withPeer(settles(() => ({ receipt_hash: "0".repeat(64) }))),
  },

  listBooked: {
    200: withPeer(async (t, peer) => {
      await settles(() => ({}))(t, peer);
      return peer.get(`${base}/settlements?limit=10`);
    }),
    "federation.replayed": withPeer((_, peer) => twice(() => peer.get(`${base}/settlements`))),
  },
};

/** A proposal under another relay's id, with a key of one's own. */
export function proposeAs(t: TestRelay, relayId: string): Promise<Reply> {
  const peer = fakePeer(t);
  const body = { ...peer.introduction(), relay_id: relayId, nonce_a: "0".repeat(64) };
  const headers = peer.headers("POST", `${base}/peer/propose`, body);
  return peer.post(`${base}/peer/propose`, body, { ...headers, "X-Relay-Id": relayId });
}

/** A forward to a relay that can hold no more tasks. */
function crowded(sql: string): Case {
  return edited(
    () => sql,
    async (t) => {
      const peer = await fakePeer(t).befriend();
      const { agentId } = await t.worker(0);
      return peer.forward({ target_agent: agentId, budget: { amount: 0, currency: "USD" } });
    },
    federated,
  );
}

/** A task that this relay passed on from one peer to another, and the other's result. */
export async function relayed(t: TestRelay, originUrl?: string, change: object = {}) {
  const worker = t.stranger();
  const origin = await fakePeer(t, originUrl).befriend();
  const listening = await answering(({ path, body }) =>
    path.endsWith("/task/forward") ? { task_id: body["task_id"], status: "pending" } : undefined,
  );
  const next = await fakePeer(t, listening.url).befriend({ features: ["relayed"] });
  const relays = [origin.relayId, t.relay.relayId, next.relayId].map((id) => `relay:${id}`);
  const body = origin.forwardOf({
    target_agent: worker.agentId,
    public_key: worker.publicKey,
    routing_choice: { composite: 0.5, path: ["self", ...relays, worker.agentId] },
    ...change,
  });
  const taken = await origin.post(`${base}/task/forward`, body);
  if (taken.status !== 202) throw new Error(JSON.stringify(taken.body));
  const asked = await until(
    () => listening.asked.find(({ path }) => path.endsWith("/task/forward")),
    "the task is passed on",
  );
  const task = {
    task_id: String(body["task_id"]),
    prompt: "work",
    submitted_at: t.clock.now(),
  };
  const receipt = receiptOf(worker, task);
  const reply = await next.post(resultPath, next.resultOf(receipt));
  await listening.close();
  return { origin, next, worker, task, receipt, reply, forward: body, passed: asked.body };
}

const confirmation = (peer: FakePeer, nonce: unknown) => ({
  relay_id: peer.relayId,
  challenge_response: peer.answer(nonce),
});

async function confirm(peer: FakePeer, change: object = {}): Promise<Reply> {
  const { body } = await peer.propose();
  const message = { ...confirmation(peer, body["nonce_b"]), ...change };
  return peer.post(`${base}/peer/confirm`, message);
}

export function queryOf(peer: FakePeer, change: object = {}): Record<string, unknown> {
  return {
    capability: "summarise",
    hop_count: 0,
    max_hops: 3,
    visited: [peer.relayId],
    query_id: unknownRelay,
    origin_relay: peer.relayId,
    ...change,
  };
}

export async function positionOf(t: TestRelay, peer: FakePeer): Promise<number | undefined> {
  const { body } = await t.asMaster("GET", "/api/v1/admin/federation/peers");
  const peers = body["peers"] as { relay_id: string; position: number }[];
  return peers.find(({ relay_id }) => relay_id === peer.relayId)?.position;
}
