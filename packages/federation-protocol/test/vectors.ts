import { asMicro } from "@agent/budget";
import { bytesToHex, canonicalize, hexToDidKey } from "@agent/crypto";
import { hashReceipt } from "@agent/receipts";
import { createResultAcceptance } from "../src/signing/result-acceptance.ts";
import { checkProposalAnswer, createProposal } from "../src/peering/initiator.ts";
import { buildProposalAnswer } from "../src/peering/responder.ts";
import { createQuery } from "../src/discovery/query.ts";
import { computeTerms } from "../src/settlement/settlement-terms.ts";
import { createHeartbeat } from "../src/peering/heartbeat.ts";
import { createRemoval } from "../src/peering/removal.ts";
import { signRequest } from "../src/signing/request-signature.ts";
import { signCancelAnswer } from "../src/forwarding/task-cancel.ts";
import { createTaskForward } from "../src/forwarding/task-forward.ts";
import { createSettlementForward } from "../src/settlement/settlement-forward.ts";
import { createOutgoingSettlement } from "../src/settlement/outgoing-settlement.ts";
import {
  alpha,
  beta,
  buildForward,
  gamma,
  buildDescription,
  NOW,
  buildForwardInput,
  type Party,
  buildReceipt,
  buildResult,
  buildOutboundTask,
  TASK,
  worker,
} from "./messages.ts";

/** One request between relays, byte for byte: `signed_text` is what the signature is over. */
export interface RequestVector {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signed_text: string;
  readonly body?: unknown;
  /** A signature inside the body, and the text that it is over. */
  readonly inner?: { readonly member: string; readonly text: string };
  readonly status: number;
  readonly answer?: unknown;
}

/** A body that is refused at `now` by the rule of its path, and the code. */
export interface RefusalVector {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
  readonly code: string;
}

const SETTLEMENT = "0199c800-0000-7000-8000-000000000002";
const RELAYED_TASK = "0199c800-0000-7000-8000-000000000004";
const QUERY = "0199c800-0000-7000-8000-000000000003";
const nonceA = new Uint8Array(32).fill(0xaa);
const nonceB = new Uint8Array(32).fill(0xbb);
const bound = (to: Party) => ({ timestamp: NOW, to: to.id });

/** All of vectors/federation.json. */
function buildFederationVectors() {
  return {
    note: "Between relays alpha and beta at the time `now` (ms). Seeds are Ed25519 secret keys in hex. A request's signature is over signed_text in UTF-8; inner.text is what the signature in the body is over. Every refused body is well signed unless its code says otherwise.",
    now: NOW,
    parties: { alpha: shown(alpha), beta: shown(beta), gamma: shown(gamma), worker: shown(worker) },
    requests: [...handshake(), ...lifeSigns(), ...work(), ...money()],
    refused: refused(),
  } satisfies {
    requests: readonly RequestVector[];
    refused: readonly RefusalVector[];
    [other: string]: unknown;
  };
}

/** The file's text. */
export function formatVectors(): string {
  return `${JSON.stringify(buildFederationVectors(), null, 2)}\n`;
}

function shown({ id, publicKey, secretKey }: Party) {
  const did = hexToDidKey(publicKey);
  return { id, seed: bytesToHex(secretKey), public_key: publicKey, did };
}

interface Sent {
  readonly name: string;
  readonly path: string;
  readonly body?: object;
  readonly inner?: RequestVector["inner"];
  readonly status?: number;
  readonly answer?: unknown;
}

function request(from: Party, to: Party, sent: Sent): RequestVector {
  const { name, body, status = 200, answer } = sent;
  const method = body === undefined ? "GET" : "POST";
  const path = `/federation/v1/${sent.path}`;
  const signed = { method, path, to: to.id, ...(body && { body }) };
  const headers = signRequest(signed, { relayId: from.id, secretKey: from.secretKey, now: NOW });
  const timestamp = headers["X-Relay-Timestamp"];
  return {
    name,
    from: from.id,
    to: to.id,
    method,
    path,
    headers,
    signed_text: canonicalize(body ?? { method, path, timestamp, to: to.id }),
    ...(body && { body }),
    ...(sent.inner && { inner: sent.inner }),
    status,
    ...(answer !== undefined && { answer }),
  };
}

function handshake(): RequestVector[] {
  const { state, message } = createProposal(buildDescription(alpha, "alpha"), nonceA);
  const answered = buildProposalAnswer(message, {
    self: buildDescription(beta, "beta"),
    policy: { blocked: [], allowed: null, maxPeers: 50 },
    getAdmissionInput: () => ({ known: null, livePeers: 0 }),
    nonce: nonceB,
    secretKey: beta.secretKey,
    now: NOW,
  });
  if (!answered.ok) throw new Error(answered.code);
  const expected = { relayId: beta.id, publicKey: beta.publicKey };
  const confirming = checkProposalAnswer(state, answered.answer, {
    expected,
    secretKey: alpha.secretKey,
  });
  if (!confirming.ok) throw new Error(confirming.code);
  return [
    request(alpha, beta, {
      name: "propose",
      path: "peer/propose",
      body: { ...message, ...bound(beta) },
      inner: { member: "answer.challenge", text: `${alpha.id}:${bytesToHex(nonceA)}` },
      answer: answered.answer,
    }),
    request(alpha, beta, {
      name: "confirm",
      path: "peer/confirm",
      body: { ...confirming.message, ...bound(beta) },
      inner: { member: "body.challenge_response", text: `${alpha.id}:${bytesToHex(nonceB)}` },
      answer: { status: "active" },
    }),
  ];
}

function lifeSigns(): RequestVector[] {
  const buildHeartbeat = (relay: Party, to: Party) =>
    createHeartbeat(
      { relay_id: relay.id, timestamp: NOW, agent_count: 3, to: to.id },
      relay.secretKey,
    );
  const full = (relay: Party, to: Party, amount: number) =>
    createHeartbeat(
      {
        relay_id: relay.id,
        timestamp: NOW,
        agent_count: 3,
        to: to.id,
        features: ["position", "signed_accepted"],
        incarnation: 0,
        position: { amount, under_way: false },
      },
      relay.secretKey,
    );
  const notice = { relay_id: alpha.id, timestamp: NOW, to: beta.id };
  return [
    request(alpha, beta, {
      name: "heartbeat",
      path: "peer/heartbeat",
      body: buildHeartbeat(alpha, beta),
      inner: { member: "body.signature", text: `${alpha.id}${NOW}` },
      answer: buildHeartbeat(beta, alpha),
    }),
    request(alpha, beta, {
      name: "heartbeat that names features",
      path: "peer/heartbeat",
      body: full(alpha, beta, 0.95),
      inner: { member: "body.signature", text: `${alpha.id}${NOW}` },
      answer: full(beta, alpha, -0.95),
    }),
    request(alpha, beta, {
      name: "removal",
      path: "peer/remove",
      body: createRemoval(notice, alpha.secretKey),
      inner: { member: "body.signature", text: canonicalize(notice) },
      answer: { status: "removed" },
    }),
  ];
}

const discovered = {
  agent_id: worker.id,
  public_key: worker.publicKey,
  name: "Adder",
  description: "",
  capabilities: ["sum"],
  pricing: [{ capability: "sum", unit_cost: 1, currency: "USD", per: "task" }],
  trust_level: "verified",
  trust: 0.6,
  cost: 1,
  availability: 1,
  latency_ms: 40,
  source_relay: beta.id,
  relay_name: "beta",
  hop_distance: 0,
};

/** Gamma's forward to alpha, and how alpha passes it on to beta. */
const came = createTaskForward(
  {
    ...buildForwardInput(),
    taskId: RELAYED_TASK,
    self: gamma.id,
    to: alpha.id,
    path: ["self", ...[gamma, alpha, beta].map(({ id }) => `relay:${id}`), worker.id],
  },
  { secretKey: gamma.secretKey, now: NOW },
);
const { task_payload: _, ...relayed } = came;
const passedOn = (change: Parameters<typeof buildForward>[0] = {}) =>
  buildForward({
    taskId: RELAYED_TASK,
    amount: asMicro(902_500),
    path: came.routing_choice?.path ?? [],
    relayed,
    ...change,
  });

function work(): RequestVector[] {
  const query = createQuery({ capability: "sum", limit: 50 }, { self: alpha.id, queryId: QUERY });
  const forward = buildForward();
  const accepted = createResultAcceptance(
    { taskId: TASK, receiptHash: hashReceipt(buildReceipt()), relayId: alpha.id },
    { secretKey: alpha.secretKey, now: NOW },
  );
  const cancelled = signCancelAnswer(
    { status: "cancelled", taskId: TASK, relayId: beta.id },
    { secretKey: beta.secretKey, now: NOW },
  );
  return [
    request(alpha, beta, {
      name: "discover",
      path: "discover",
      body: { ...query, ...bound(beta) },
      answer: { agents: [discovered] },
    }),
    request(alpha, beta, {
      name: "forward a task",
      path: "task/forward",
      body: forward,
      inner: { member: "body.signature", text: withoutSignature(forward) },
      status: 202,
      answer: { task_id: TASK, status: "pending" },
    }),
    request(alpha, beta, {
      name: "pass a task on",
      path: "task/forward",
      body: passedOn(),
      inner: { member: "body.signature", text: withoutSignature(passedOn()) },
      status: 202,
      answer: { task_id: RELAYED_TASK, status: "pending" },
    }),
    request(alpha, beta, {
      name: "cancel a task",
      path: "task/cancel",
      body: { task_id: TASK, origin_relay: alpha.id, ...bound(beta) },
      inner: { member: "answer.signature", text: withoutSignature(cancelled) },
      answer: cancelled,
    }),
    request(beta, alpha, {
      name: "return a result",
      path: "task/result",
      body: { ...buildResult(), ...bound(alpha) },
      inner: {
        member: "body.attestation.signature",
        text: withoutSignature(buildResult().attestation),
      },
      answer: { status: "accepted" },
    }),
    request(beta, alpha, {
      name: "return a result to a relay that signs its acceptance",
      path: "task/result",
      body: { ...buildResult(), ...bound(alpha) },
      inner: { member: "answer.signature", text: withoutSignature(accepted) },
      answer: accepted,
    }),
  ];
}

function settlement(change: object = {}) {
  const task = {
    ...buildOutboundTask({ state: "completed" }),
    receiptHash: hashReceipt(buildReceipt()),
  };
  const owed = createOutgoingSettlement(task, {
    settlementId: SETTLEMENT,
    now: NOW,
    refundable: true,
  });
  const by = { self: alpha.id, secretKey: alpha.secretKey };
  return createSettlementForward({ ...owed, ...change }, by);
}

function money(): RequestVector[] {
  const message = settlement();
  const { timestamp: _, to: __, signature: ___, ...members } = message;
  return [
    request(alpha, beta, {
      name: "settle",
      path: "settlement/forward",
      body: message,
      inner: { member: "body.signature", text: withoutSignature(message) },
      answer: {
        status: "settled",
        settlement_id: SETTLEMENT,
        fee_amount: 0.0475,
        net_amount: 0.9025,
      },
    }),
    request(alpha, beta, {
      name: "ask whether it was booked",
      path: `settlements?task_id=${TASK}`,
      answer: { settlements: [{ ...members, status: "settled" }] },
    }),
  ];
}

function refused(): RefusalVector[] {
  const { message } = createProposal(buildDescription(alpha, "alpha"), nonceA);
  const heartbeat = createHeartbeat(
    { relay_id: alpha.id, timestamp: NOW, agent_count: 3 },
    alpha.secretKey,
  );
  const forged = buildReceipt({}, gamma);
  const rows: readonly (readonly [string, string, unknown, string])[] = [
    [
      "an id that is no UUID",
      "peer/propose",
      { ...message, relay_id: '{"a"' },
      "federation.malformed",
    ],
    [
      "a nonce of 31 bytes",
      "peer/propose",
      { ...message, nonce_a: "aa".repeat(31) },
      "federation.malformed",
    ],
    [
      "the receiver's own id",
      "peer/propose",
      { ...message, relay_id: beta.id },
      "peer.own_identity",
    ],
    [
      "a changed time",
      "peer/heartbeat",
      { ...heartbeat, timestamp: NOW + 1 },
      "federation.signature_invalid",
    ],
    [
      "a heartbeat of another relay",
      "peer/heartbeat",
      createHeartbeat({ relay_id: gamma.id, timestamp: NOW, agent_count: 3 }, alpha.secretKey),
      "federation.wrong_sender",
    ],
    [
      "a heartbeat of 5 minutes and 1 ms ago",
      "peer/heartbeat",
      createHeartbeat(
        { relay_id: alpha.id, timestamp: NOW - 300_001, agent_count: 3 },
        alpha.secretKey,
      ),
      "federation.timestamp_expired",
    ],
    [
      "a heartbeat's signature",
      "peer/remove",
      { relay_id: alpha.id, timestamp: NOW, signature: heartbeat.signature },
      "federation.signature_invalid",
    ],
    [
      "a negative budget",
      "task/forward",
      { ...buildForward(), budget: { amount: -1, currency: "USD" } },
      "federation.malformed",
    ],
    [
      "a changed prompt",
      "task/forward",
      { ...buildForward(), task_payload: { prompt: "other" } },
      "federation.signature_invalid",
    ],
    [
      "another relay as the one that pays",
      "task/forward",
      buildForward({ self: gamma.id }),
      "federation.wrong_sender",
    ],
    [
      "less than the price",
      "task/forward",
      buildForward({ amount: asMicro(949_999) }),
      "forward.underpaid",
    ],
    [
      "less than the price, because of a relay that has not signed",
      "task/forward",
      passedOn({ relayed: undefined }),
      "forward.underpaid",
    ],
    [
      "less than the price, because of a relay that has signed another prompt",
      "task/forward",
      passedOn({ payload: { prompt: "add 2 and 3" } }),
      "forward.underpaid",
    ],
    [
      "less than the price, because of a relay that has signed another task",
      "task/forward",
      passedOn({ taskId: TASK }),
      "forward.underpaid",
    ],
    [
      "another key of the worker",
      "task/forward",
      buildForward({ publicKey: gamma.publicKey }),
      "forward.key_mismatch",
    ],
    ["a time that is over", "task/forward", buildForward({ expiresAt: NOW }), "forward.expired"],
    [
      "a key that came with the result",
      "task/result",
      { ...buildResult(forged), public_key: gamma.publicKey },
      "result.key_mismatch",
    ],
    ["a receipt by another key", "task/result", buildResult(forged), "result.receipt_invalid"],
    [
      "an attestation of another relay",
      "task/result",
      buildResult(buildReceipt(), gamma),
      "result.attestation_invalid",
    ],
    [
      "a higher amount",
      "settlement/forward",
      settlement({ terms: computeTerms(asMicro(2_000_000), 0.05) }),
      "settlement.amount_mismatch",
    ],
    [
      "another receipt",
      "settlement/forward",
      settlement({ receiptHash: "00".repeat(32) }),
      "settlement.receipt_mismatch",
    ],
    ["another task", "settlement/forward", settlement({ taskId: "other" }), "settlement.not_owed"],
  ];
  return rows.map(([name, path, body, code]) => ({
    name,
    path: `/federation/v1/${path}`,
    body,
    code,
  }));
}

function withoutSignature(message: object): string {
  const { signature: _, ...members } = message as { signature?: string };
  return canonicalize(members);
}
