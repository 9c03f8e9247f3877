import { hexToDidKey, signJson } from "@agent/crypto";
import { hashReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import { engine } from "../../engine/engine.ts";
import { createFakePeer, type FakePeer } from "../../network/fake-peer.ts";
import { startListeningPeer } from "../../network/listening-peer.ts";
import { waitUntil } from "../../network/network.ts";
import { createReceipt, startTestRelay, type Reply, type TestRelay } from "../../test-relay.ts";
import { withEnv, withEditedDatabase, type Case, type Contract } from "../outcome.ts";

export const federated = {
  AGENT_FEDERATION_ENDPOINT_URL: "http://127.0.0.1:1",
  AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
};
const whenFederated = (run: Case, env: Record<string, string> = {}) =>
  withEnv({ ...federated, ...env }, run);
/** Sets the counter of each relay that sends a task to its limit, as many open tasks would. */
const CROWD =
  engine === "sqlite"
    ? `CREATE TRIGGER crowd AFTER INSERT ON task_counters WHEN new.scope LIKE 'by:relay:%' BEGIN
         UPDATE task_counters SET live = ${limits.liveTasksPerSubmitter} WHERE scope = new.scope;
       END`
    : `CREATE FUNCTION crowd() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN new.live := ${limits.liveTasksPerSubmitter}; RETURN new; END $$;
       CREATE TRIGGER crowd BEFORE INSERT ON task_counters FOR EACH ROW
         WHEN (new.scope LIKE 'by:relay:%') EXECUTE FUNCTION crowd()`;

export const BASE_PATH = "/federation/v1";
const UNKNOWN_RELAY_ID = "019b7d21-53eb-7ccd-926c-3badff397111";

/** Starts a relay with a peer that has completed its handshake. */
export async function startRelayWithPeer(): Promise<{ t: TestRelay; peer: FakePeer }> {
  const t = await startTestRelay(federated);
  return { t, peer: await createFakePeer(t).completeHandshake() };
}

/** Runs a case with a peer that has completed its handshake. */
const withPeer = (run: (t: TestRelay, peer: FakePeer) => Promise<Reply>, env = {}) =>
  whenFederated(async (t) => run(t, await createFakePeer(t).completeHandshake()), env);

/** Sends a request twice and returns the second reply. */
const twice = async (send: () => Promise<Reply>): Promise<Reply> => {
  await send();
  return send();
};

/** Suspends a peer by letting it miss three heartbeats. */
export async function suspend(t: TestRelay, { relayId }: FakePeer): Promise<void> {
  for (let missed = 1; missed <= 3; missed += 1) {
    await t.clock.advance(60_000);
    await t.relay.tick();
    await waitUntil(async () => {
      const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
      const peers = body["peers"] as { relay_id: string; missed_heartbeats: number }[];
      return peers.find(({ relay_id }) => relay_id === relayId)?.missed_heartbeats === missed;
    }, `heartbeat ${missed}`);
  }
}

/** Completes a task of the peer with a worker of this relay. */
export async function completeTaskOfPeer(t: TestRelay, peer: FakePeer, status?: "failed") {
  const worker = await t.createWorker(1);
  const body = peer.createForward({ target_agent: worker.agentId, public_key: worker.publicKey });
  const taken = await peer.post(`${BASE_PATH}/task/forward`, body);
  if (taken.status !== 202) throw new Error(JSON.stringify(taken.body));
  const taskId = String(body["task_id"]);
  const path = `/agent/${worker.agentId}/task/${taskId}`;
  const { body: poll } = await t.as(worker, "GET", path);
  const receipt = createReceipt(
    worker,
    poll["task"] as never,
    status === undefined ? {} : { status },
  );
  await t.as(worker, "POST", `${path}/result`, receipt);
  const settlement = {
    task_id: taskId,
    agent_id: worker.agentId,
    receipt_hash: hashReceipt(receipt),
  };
  return { worker, taskId, receipt, settlement, forward: body };
}

const settles =
  (change: (done: Awaited<ReturnType<typeof completeTaskOfPeer>>) => object, status?: "failed") =>
  async (t: TestRelay, peer: FakePeer) => {
    const done = await completeTaskOfPeer(t, peer, status);
    const body = peer.createSettlement({ ...done.settlement, ...change(done) });
    return peer.post(`${BASE_PATH}/settlement/forward`, body);
  };

interface PeerVersion {
  readonly features?: readonly string[] | undefined;
  readonly books?: boolean;
}

/** Forwards a task of a local agent to a listening peer, whose worker is unknown to this relay. */
export async function forwardTaskToPeer(
  t: TestRelay,
  price = 1,
  /** Builds the peer's answer to a cancel; without it the peer does not support cancels. */
  onCancel?: (taskId: string) => object | undefined,
  /** The features that the peer states, and whether it books settlements. */
  { features = onCancel && ["cancel"], books = false }: PeerVersion = {},
) {
  const worker = t.createUnknownAgent();
  const listening = await startListeningPeer(({ path, body }) => {
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
    if (books && path.endsWith("/settlement/forward")) {
      const { settlement_id, amount } = body;
      return { status: "settled", settlement_id, fee_amount: 0, net_amount: amount };
    }
    return path.endsWith("/identity") ? {} : undefined;
  });
  const peer = await createFakePeer(t, listening.url).completeHandshake(features && { features });
  const boss = await t.createAgent();
  await t.deposit(boss, 10);
  const submitted = await t.as(boss, "POST", `/agent/${boss.agentId}/task`, {
    prompt: "work",
    required_capabilities: ["summarise"],
  });
  if (submitted.status !== 201) throw new Error(JSON.stringify(submitted.body));
  const taskId = String(submitted.body["task_id"]);
  await waitUntil(
    () => listening.requests.find(({ path }) => path.endsWith("/task/forward")),
    "forward",
  );
  await waitUntil(async () => {
    const { body } = await t.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
    return (body["task"] as { status: string }).status === "claimed";
  });
  const task = { task_id: taskId, prompt: "work", submitted_at: t.clock.now() };
  return { boss, worker, peer, listening, task, receipt: createReceipt(worker, task) };
}

type ForwardedTask = Awaited<ReturnType<typeof forwardTaskToPeer>>;

const returnResult = (run: (away: ForwardedTask, t: TestRelay) => Promise<Reply>) =>
  whenFederated(async (t) => {
    const away = await forwardTaskToPeer(t);
    try {
      return await run(away, t);
    } finally {
      await away.listening.close();
    }
  });

const RESULT_PATH = `${BASE_PATH}/task/result`;
const CANCEL_PATH = `${BASE_PATH}/task/cancel`;

const createCancellation = ({ relayId }: FakePeer, task_id: string) => ({
  task_id,
  origin_relay: relayId,
});

/** Receives a task of the peer that waits for a worker of this relay. */
async function receiveTaskFrom(t: TestRelay, peer: FakePeer) {
  const worker = await t.createWorker(1);
  const body = peer.createForward({ target_agent: worker.agentId, public_key: worker.publicKey });
  const taken = await peer.post(`${BASE_PATH}/task/forward`, body);
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
  relayIdentity: { 200: whenFederated((t) => t.request("GET", `${BASE_PATH}/identity`)) },

  proposePeer: {
    200: whenFederated((t) => createFakePeer(t).propose()),
    "federation.peer_removed": withPeer(async (t, peer) => {
      await t.asOperator("DELETE", `/api/v1/admin/federation/peers/${peer.relayId}`);
      return peer.propose();
    }),
    "peer.own_identity": whenFederated((t) => proposePeer(t, t.relay.relayId)),
    "peer.blocked": whenFederated((t) => proposePeer(t, UNKNOWN_RELAY_ID), {
      AGENT_FEDERATION_BLOCKED_PEERS: UNKNOWN_RELAY_ID,
    }),
    "peer.not_allowed": whenFederated((t) => createFakePeer(t).propose(), {
      AGENT_FEDERATION_ALLOWED_PEERS: UNKNOWN_RELAY_ID,
    }),
    "peer.exists": withPeer((_, peer) => peer.propose()),
    "peer.key_changed": withPeer((t, peer) => proposePeer(t, peer.relayId)),
    "peer.limit_reached": whenFederated((t) => createFakePeer(t).propose(), {
      AGENT_FEDERATION_MAX_PEERS: "0",
    }),
    "peer.identity_mismatch": whenFederated(async (t) => {
      const [liar, victim] = [createFakePeer(t), createFakePeer(t)];
      const listening = await startListeningPeer(() => ({
        agent_id: victim.relayId,
        public_key: victim.publicKey,
        did: hexToDidKey(victim.publicKey),
      }));
      const reply = await liar.propose({ endpoint_url: listening.url });
      await listening.close();
      return reply;
    }),
    "federation.wrong_sender": whenFederated((t) =>
      createFakePeer(t).propose({ relay_id: UNKNOWN_RELAY_ID }),
    ),
    "federation.replayed": whenFederated((t) => {
      const peer = createFakePeer(t);
      const body = { ...peer.selfDescription(), nonce_a: "0".repeat(64) };
      return twice(() => peer.post(`${BASE_PATH}/peer/propose`, body));
    }),
  },

  confirmPeer: {
    200: whenFederated(async (t) => confirm(createFakePeer(t))),
    "peer.not_pending": whenFederated((t) => {
      const peer = createFakePeer(t);
      return peer.post(`${BASE_PATH}/peer/confirm`, confirmation(peer, "0".repeat(64)));
    }),
    "peer.identity_mismatch": whenFederated((t) =>
      confirm(createFakePeer(t), { relay_id: UNKNOWN_RELAY_ID }),
    ),
    "peer.challenge_invalid": whenFederated((t) => {
      const peer = createFakePeer(t);
      return confirm(peer, { challenge_response: peer.signChallenge("0".repeat(64)) });
    }),
    "federation.peer_removed": withPeer(async (t, peer) => {
      await peer.remove();
      await t.clock.advance(1);
      const { body } = await peer.propose();
      await t.asOperator("DELETE", `/api/v1/admin/federation/peers/${peer.relayId}`);
      return peer.post(`${BASE_PATH}/peer/confirm`, confirmation(peer, body["nonce_b"]));
    }),
    "peer.limit_reached": whenFederated(
      async (t) => {
        const late = createFakePeer(t);
        const { body } = await late.propose();
        await createFakePeer(t).completeHandshake();
        return late.post(`${BASE_PATH}/peer/confirm`, confirmation(late, body["nonce_b"]));
      },
      { AGENT_FEDERATION_MAX_PEERS: "1" },
    ),
    "federation.replayed": whenFederated(async (t) => {
      const peer = createFakePeer(t);
      const { body } = await peer.propose();
      const message = confirmation(peer, body["nonce_b"]);
      await peer.post(`${BASE_PATH}/peer/confirm`, message);
      await peer.remove();
      await t.clock.advance(1);
      await peer.propose();
      return peer.post(`${BASE_PATH}/peer/confirm`, message);
    }),
  },

  peerHeartbeat: {
    200: withPeer((_, peer) => peer.heartbeat()),
    "peer.timestamp_stale": withPeer((t, peer) => twice(() => peer.heartbeat(t.clock.now()))),
    "federation.wrong_sender": withPeer((_, peer) =>
      peer.heartbeat(undefined, { relay_id: UNKNOWN_RELAY_ID }),
    ),
  },

  removeSelf: {
    200: withPeer((_, peer) => peer.remove()),
    "peer.timestamp_stale": withPeer(async (t, peer) => {
      await peer.heartbeat(t.clock.now() + 10);
      return peer.remove(t.clock.now() + 5);
    }),
    "federation.wrong_sender": withPeer((t, peer) => {
      const notice = { relay_id: UNKNOWN_RELAY_ID, timestamp: t.clock.now() + 1 };
      return peer.post(`${BASE_PATH}/peer/remove`, signJson(notice, peer.secretKey));
    }),
  },

  listPeers: {
    200: withPeer((_, peer) => peer.get(`${BASE_PATH}/peers`)),
    "federation.replayed": withPeer((_, peer) => twice(() => peer.get(`${BASE_PATH}/peers`))),
  },

  forwardDiscovery: {
    200: withPeer(async (t, peer) => {
      await t.createWorker(1);
      return peer.post(`${BASE_PATH}/discover`, createQuery(peer));
    }),
    "peer.suspended": withPeer(async (t, peer) => {
      await suspend(t, peer);
      return peer.post(`${BASE_PATH}/discover`, createQuery(peer));
    }),
  },

  forwardTask: {
    202: withPeer(async (t, peer) =>
      peer.forward({ target_agent: (await t.createWorker(1)).agentId }),
    ),
    "peer.suspended": withPeer(async (t, peer) => {
      await suspend(t, peer);
      return peer.forward();
    }),
    "federation.wrong_sender": withPeer((_, peer) =>
      peer.forward({ origin_relay: UNKNOWN_RELAY_ID }),
    ),
    "forward.duplicate": withPeer(async (t, peer) => {
      const body = peer.createForward({ target_agent: (await t.createWorker(1)).agentId });
      return twice(() => peer.post(`${BASE_PATH}/task/forward`, body));
    }),
    "forward.id_taken": withPeer(async (t, peer) => {
      const worker = await t.createWorker(0);
      const path = `/agent/${worker.agentId}/task`;
      const { body } = await t.as(worker, "POST", path, { prompt: "work" });
      return peer.forward({ target_agent: worker.agentId, task_id: body["task_id"] });
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
        target_agent: (await t.createWorker(1)).agentId,
        expires_at: t.clock.now(),
      }),
    ),
    "forward.agent_not_found": withPeer((_, peer) => peer.forward()),
    "forward.key_mismatch": withPeer(async (t, peer) =>
      peer.forward({ target_agent: (await t.createWorker(1)).agentId, public_key: peer.publicKey }),
    ),
    "forward.not_offered": withPeer(async (t, peer) =>
      peer.forward({
        target_agent: (await t.createWorker(1)).agentId,
        task_payload: { prompt: "work", required_capabilities: ["other"] },
      }),
    ),
    "forward.underpaid": withPeer(async (t, peer) =>
      peer.forward({
        target_agent: (await t.createWorker(1)).agentId,
        budget: { amount: 0.949999, currency: "USD" },
      }),
    ),
    "task.too_deep": withPeer(async (t, peer) =>
      peer.forward({ target_agent: (await t.createWorker(1)).agentId, depth: 11 }),
    ),
    "clearing.limit_exceeded": withPeer(
      async (t, peer) => peer.forward({ target_agent: (await t.createWorker(1)).agentId }),
      { AGENT_FEDERATION_CREDIT_LIMIT: "0.94" },
    ),
    "task.relay_full": withRows(`INSERT INTO task_counters VALUES ('all', ${limits.liveTasks})`),
    "task.submitter_full": withRows(CROWD),
  },

  cancelForwardedTask: {
    200: withPeer(async (t, peer) => {
      const { taskId } = await receiveTaskFrom(t, peer);
      // The relay's call to the worker's endpoint holds a claim on the task until the call fails.
      const hasFailed = () => t.listLogged("mcp.forward_failed").length > 0;
      await waitUntil(hasFailed, "the call of the endpoint fails");
      return peer.post(CANCEL_PATH, createCancellation(peer, taskId));
    }),
    202: withPeer(async (t, peer) => {
      const { taskId, worker } = await receiveTaskFrom(t, peer);
      const claim = `/agent/${worker.agentId}/task/${taskId}/claim`;
      // The relay may still be calling the worker's endpoint, and holds a claim on the task during the call.
      await waitUntil(async () => (await t.as(worker, "POST", claim)).status === 200);
      return peer.post(CANCEL_PATH, createCancellation(peer, taskId));
    }),
    "federation.wrong_sender": withPeer((_, peer) =>
      peer.post(CANCEL_PATH, {
        ...createCancellation(peer, UNKNOWN_RELAY_ID),
        origin_relay: UNKNOWN_RELAY_ID,
      }),
    ),
    "cancel.task_not_found": withPeer((_, peer) =>
      peer.post(CANCEL_PATH, createCancellation(peer, UNKNOWN_RELAY_ID)),
    ),
    "cancel.wrong_peer": withPeer(async (t, peer) => {
      const { taskId } = await receiveTaskFrom(t, peer);
      const other = await createFakePeer(t).completeHandshake();
      return other.post(CANCEL_PATH, createCancellation(other, taskId));
    }),
    "cancel.already_finished": withPeer(async (t, peer) => {
      const { taskId } = await completeTaskOfPeer(t, peer);
      return peer.post(CANCEL_PATH, createCancellation(peer, taskId));
    }),
  },

  returnResult: {
    200: returnResult(({ peer, receipt }) => peer.post(RESULT_PATH, peer.createResult(receipt))),
    202: whenFederated(async (t) => (await relayTask(t)).reply),
    "federation.wrong_sender": returnResult(({ peer, receipt }) =>
      peer.post(RESULT_PATH, peer.createResult(receipt, { origin_relay: UNKNOWN_RELAY_ID })),
    ),
    "result.task_not_found": returnResult(({ peer, receipt }) =>
      peer.post(RESULT_PATH, peer.createResult({ ...receipt, task_id: UNKNOWN_RELAY_ID })),
    ),
    "result.wrong_peer": returnResult(async ({ receipt }, t) => {
      const other = await createFakePeer(t).completeHandshake();
      return other.post(RESULT_PATH, other.createResult(receipt));
    }),
    "result.already_finished": returnResult(async ({ peer, receipt, worker, task }) => {
      await peer.post(RESULT_PATH, peer.createResult(receipt));
      return peer.post(
        RESULT_PATH,
        peer.createResult(createReceipt(worker, task, { result: "other" })),
      );
    }),
    "result.key_mismatch": returnResult(({ peer, receipt }) =>
      peer.post(RESULT_PATH, peer.createResult(receipt, { public_key: peer.publicKey })),
    ),
    "result.receipt_invalid": returnResult(({ peer, receipt }) =>
      peer.post(RESULT_PATH, peer.createResult({ ...receipt, result: "other" })),
    ),
    "result.attestation_invalid": returnResult(({ peer, receipt }) =>
      peer.post(RESULT_PATH, peer.createResult(receipt, { attestation: {} })),
    ),
  },

  forwardSettlement: {
    200: withPeer(settles(() => ({}))),
    "federation.wrong_sender": withPeer(settles(() => ({ origin_relay: UNKNOWN_RELAY_ID }))),
    "clearing.limit_exceeded": withPeer(async (t, peer) => {
      const done = await completeTaskOfPeer(t, peer);
      // The hold expires without a settlement, and then the credit limit is lowered.
      await t.clock.advance(86_400_000);
      await peer.heartbeat();
      await waitUntil(async () => {
        await t.relay.tick();
        return (await getPosition(t, peer)) === 0;
      }, "the hold expires");
      const path = `/api/v1/admin/federation/peers/${peer.relayId}`;
      await t.asOperator("PUT", path, { credit_limit: 0 });
      return peer.post(`${BASE_PATH}/settlement/forward`, peer.createSettlement(done.settlement));
    }),
    "settlement.not_owed": withPeer((_, peer) =>
      peer.post(
        `${BASE_PATH}/settlement/forward`,
        peer.createSettlement({
          task_id: UNKNOWN_RELAY_ID,
          agent_id: UNKNOWN_RELAY_ID,
          receipt_hash: "0".repeat(64),
        }),
      ),
    ),
    "settlement.not_completed": withPeer(settles(() => ({}), "failed")),
    "settlement.already_settled": withPeer(async (t, peer) => {
      const { settlement } = await completeTaskOfPeer(t, peer);
      return twice(() =>
        peer.post(`${BASE_PATH}/settlement/forward`, peer.createSettlement(settlement)),
      );
    }),
    "settlement.amount_mismatch": withPeer(settles(() => ({ amount: 0.96 }))),
    "settlement.receipt_mismatch": withPeer(settles(() => ({ receipt_hash: "0".repeat(64) }))),
  },

  listBooked: {
    200: withPeer(async (t, peer) => {
      await settles(() => ({}))(t, peer);
      return peer.get(`${BASE_PATH}/settlements?limit=10`);
    }),
    "federation.replayed": withPeer((_, peer) => twice(() => peer.get(`${BASE_PATH}/settlements`))),
  },
};

/** Proposes a peer with another relay's id but a key of its own. */
export function proposePeer(t: TestRelay, relayId: string): Promise<Reply> {
  const peer = createFakePeer(t);
  const body = { ...peer.selfDescription(), relay_id: relayId, nonce_a: "0".repeat(64) };
  const headers = peer.headers("POST", `${BASE_PATH}/peer/propose`, body);
  return peer.post(`${BASE_PATH}/peer/propose`, body, { ...headers, "X-Relay-Id": relayId });
}

/** Forwards a task to a relay that can hold no more tasks. */
function withRows(sql: string): Case {
  return withEditedDatabase(
    () => sql,
    async (t) => {
      const peer = await createFakePeer(t).completeHandshake();
      const { agentId } = await t.createWorker(0);
      return peer.forward({ target_agent: agentId, budget: { amount: 0, currency: "USD" } });
    },
    federated,
  );
}

/** Forwards a task from one peer to another that has these features, and returns the result of the second peer. */
export async function relayTask(
  t: TestRelay,
  originUrl?: string,
  change: object = {},
  features: readonly string[] = ["relayed"],
) {
  const worker = t.createUnknownAgent();
  const origin = await createFakePeer(t, originUrl).completeHandshake();
  const listening = await startListeningPeer(({ path, body }) =>
    path.endsWith("/task/forward") ? { task_id: body["task_id"], status: "pending" } : undefined,
  );
  const next = await createFakePeer(t, listening.url).completeHandshake({ features });
  const relays = [origin.relayId, t.relay.relayId, next.relayId].map((id) => `relay:${id}`);
  const body = origin.createForward({
    target_agent: worker.agentId,
    public_key: worker.publicKey,
    routing_choice: { composite: 0.5, path: ["self", ...relays, worker.agentId] },
    ...change,
  });
  const taken = await origin.post(`${BASE_PATH}/task/forward`, body);
  if (taken.status !== 202) throw new Error(JSON.stringify(taken.body));
  const asked = await waitUntil(
    () => listening.requests.find(({ path }) => path.endsWith("/task/forward")),
    "the task is passed on",
  );
  const task = {
    task_id: String(body["task_id"]),
    prompt: "work",
    submitted_at: t.clock.now(),
  };
  const receipt = createReceipt(worker, task);
  const reply = await next.post(RESULT_PATH, next.createResult(receipt));
  await listening.close();
  return { origin, next, worker, task, receipt, reply, forward: body, passed: asked.body };
}

const confirmation = (peer: FakePeer, nonce: unknown) => ({
  relay_id: peer.relayId,
  challenge_response: peer.signChallenge(nonce),
});

async function confirm(peer: FakePeer, change: object = {}): Promise<Reply> {
  const { body } = await peer.propose();
  const message = { ...confirmation(peer, body["nonce_b"]), ...change };
  return peer.post(`${BASE_PATH}/peer/confirm`, message);
}

export function createQuery(peer: FakePeer, change: object = {}): Record<string, unknown> {
  return {
    capability: "summarise",
    hop_count: 0,
    max_hops: 3,
    visited: [peer.relayId],
    query_id: UNKNOWN_RELAY_ID,
    origin_relay: peer.relayId,
    ...change,
  };
}

export async function getPosition(t: TestRelay, peer: FakePeer): Promise<number | undefined> {
  const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
  const peers = body["peers"] as { relay_id: string; position: number }[];
  return peers.find(({ relay_id }) => relay_id === peer.relayId)?.position;
}
