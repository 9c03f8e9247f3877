import { bytesToHex, generateKeyPair, sign, signJson, toBase64Url, uuidV7 } from "@agent/crypto";
import { createHeartbeat, createRemoval } from "@agent/federation-protocol/peering";
import { signRequest } from "@agent/federation-protocol/signing";
import { signAttestation, hashReceipt, type ExecutionReceipt } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

/** No server listens at this address. */
const UNREACHABLE_URL = "http://127.0.0.1:1";

/** A peer that signs like a relay and can be made to send anything. */
export interface FakePeer {
  readonly relayId: string;
  readonly publicKey: string;
  readonly secretKey: Uint8Array;
  readonly endpointUrl: string;
  /** Builds the headers that an honest relay would sign. */
  headers(method: string, path: string, body?: object, at?: number): Record<string, string>;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Reply>;
  get(path: string): Promise<Reply>;
  /** Builds the members with which the peer introduces itself. */
  selfDescription(): {
    relay_id: string;
    public_key: string;
    endpoint_url: string;
    display_name: string;
  };
  propose(change?: object): Promise<Reply>;
  /** Signs the answer to a nonce, like the initiator of a handshake. */
  signChallenge(nonce: unknown): string;
  /** Performs the complete handshake. */
  completeHandshake(introduction?: object): Promise<FakePeer>;
  /** Returns the time for a signed notice, which is later than that of the previous one. */
  nextNoticeTime(): number;
  /** Signs with another key from now on. */
  replaceKey(secretKey: Uint8Array): void;
  heartbeat(timestamp?: number, change?: object): Promise<Reply>;
  remove(timestamp?: number): Promise<Reply>;
  /** Builds the body of task/forward. */
  createForward(change?: object): Record<string, unknown>;
  forward(change?: object): Promise<Reply>;
  /** Builds the body of task/result, attested by this peer. */
  createResult(receipt: ExecutionReceipt, change?: object): Record<string, unknown>;
  createSettlement(change: object): Record<string, unknown>;
}

let peerCount = 0;

/** A relay as seen by its peer. */
export interface PeerOfFake {
  readonly clock: Pick<TestRelay["clock"], "now">;
  readonly relay: Pick<TestRelay["relay"], "relayId">;
  readonly request: TestRelay["request"];
}

export function createFakePeer(t: PeerOfFake, endpointUrl = UNREACHABLE_URL): FakePeer {
  peerCount += 1;
  const random = createSeededRandom(50_000 + peerCount);
  let { publicKey, secretKey } = generateKeyPair(random.randomBytes(32));
  const { now } = t.clock;
  const relayId = uuidV7(now(), random.randomBytes(10));
  const to = t.relay.relayId;
  const freshId = () => uuidV7(now(), random.randomBytes(10));
  const envelope = () => ({ timestamp: now(), to });
  let lastNoticeAt = now();

  const peer: FakePeer = {
    relayId,
    get publicKey() {
      return bytesToHex(publicKey);
    },
    get secretKey() {
      return secretKey;
    },
    endpointUrl,
    headers: (method, path, body, at = now()) =>
      signRequest(
        { method, path, to, ...(body !== undefined && { body }) },
        { relayId, secretKey, now: at },
      ),
    post: (path, body, headers) =>
      t.request("POST", path, { body, headers: headers ?? peer.headers("POST", path, body) }),
    get: (path) => t.request("GET", path, { headers: peer.headers("GET", path) }),
    selfDescription: () => ({
      relay_id: relayId,
      public_key: bytesToHex(publicKey),
      endpoint_url: endpointUrl,
      display_name: "fake",
    }),
    propose: (change = {}) =>
      peer.post("/federation/v1/peer/propose", {
        ...peer.selfDescription(),
        nonce_a: bytesToHex(random.randomBytes(32)),
        ...envelope(),
        ...change,
      }),
    signChallenge: (nonce) => toBase64Url(sign(`${relayId}:${String(nonce)}`, secretKey)),
    async completeHandshake(introduction = {}) {
      const { body } = await peer.propose(introduction);
      const confirmed = await peer.post("/federation/v1/peer/confirm", {
        relay_id: relayId,
        challenge_response: peer.signChallenge(body["nonce_b"]),
        ...envelope(),
      });
      if (confirmed.status !== 200) throw new Error(JSON.stringify([body, confirmed.body]));
      return peer;
    },
    nextNoticeTime() {
      lastNoticeAt = Math.max(now(), lastNoticeAt + 1);
      return lastNoticeAt;
    },
    replaceKey(next) {
      ({ publicKey, secretKey } = generateKeyPair(next));
    },
    heartbeat(timestamp = peer.nextNoticeTime(), change = {}) {
      const body = createHeartbeat({ relay_id: relayId, timestamp, agent_count: 0, to }, secretKey);
      return peer.post("/federation/v1/peer/heartbeat", { ...body, ...change });
    },
    remove(timestamp = peer.nextNoticeTime()) {
      const notice = { relay_id: relayId, timestamp, to };
      return peer.post("/federation/v1/peer/remove", createRemoval(notice, secretKey));
    },
    createForward: (change = {}) =>
      signJson(
        {
          task_id: freshId(),
          origin_relay: relayId,
          target_agent: freshId(),
          task_payload: { prompt: "work", required_capabilities: ["summarise"] },
          budget: { amount: 0.95, currency: "USD" },
          routing_choice: { composite: 0.5, path: ["self", `relay:${relayId}`, `relay:${to}`] },
          expires_at: now() + 600_000,
          ...envelope(),
          ...change,
        },
        secretKey,
      ),
    forward: (change) => peer.post("/federation/v1/task/forward", peer.createForward(change)),
    createResult: (receipt, change = {}) => ({
      task_id: receipt.task_id,
      origin_relay: relayId,
      receipt,
      public_key: receipt.public_key,
      attestation: signAttestation(
        {
          relay_id: relayId,
          task_id: receipt.task_id,
          receipt_hash: hashReceipt(receipt),
          received_at: now(),
          attested_at: now(),
        },
        secretKey,
      ),
      ...envelope(),
      ...change,
    }),
    createSettlement: (change) =>
      signJson(
        {
          settlement_id: freshId(),
          origin_relay: relayId,
          gross_amount: 1,
          fee_rate: 0.05,
          fee_amount: 0.05,
          amount: 0.95,
          currency: "USD",
          settled_at: now(),
          ...envelope(),
          ...change,
        },
        secretKey,
      ),
  };
  return peer;
}
