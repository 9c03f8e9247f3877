import type { ServerResponse } from "node:http";
import { bytesToHex, hexToDidKey, sign, signJson, toBase64Url } from "@agent/crypto";
import { FEDERATION_FEATURES } from "@agent/federation-protocol";
import { signCancelAnswer } from "@agent/federation-protocol/forwarding";
import { createHeartbeat } from "@agent/federation-protocol/peering";
import { createResultAcceptance, signAnswer } from "@agent/federation-protocol/signing";
import { hashReceipt } from "@agent/receipts";
import { limits } from "@agent/wire";
import type { ReceivedRequest } from "../../network/listening-peer.ts";
import type { HostilePeer } from "./hostile-peer.ts";
import { listEntries, listFalseEntries } from "./discovery-entries.ts";

type Answer = (peer: HostilePeer, request: ReceivedRequest) => unknown;

type Refusal = readonly [status: number, code: string | undefined];

/** The codes with which a relay may refuse, each with its status. */
const REFUSALS: readonly [Refusal, ...Refusal[]] = [
  [400, "request.invalid"],
  [402, "clearing.limit_exceeded"],
  [403, "federation.signature_invalid"],
  [403, "result.wrong_peer"],
  [403, "cancel.wrong_peer"],
  [404, "result.task_not_found"],
  [404, "settlement.not_owed"],
  [404, "route.not_found"],
  [404, "cancel.task_not_found"],
  [409, "forward.duplicate"],
  [409, "forward.id_taken"],
  [409, "result.already_finished"],
  [409, "settlement.already_settled"],
  [409, "cancel.already_finished"],
  [410, undefined],
  [429, "rate.exceeded"],
  [503, "server.frozen"],
  [500, "server.error"],
];

/** Longer than any answer that a relay reads. */
const HUGE_BYTES = 8_000_000;

/** Answers like an honest relay, or with one of the lies. */
export async function answerRequest(
  peer: HostilePeer,
  request: ReceivedRequest,
  response: ServerResponse,
): Promise<unknown> {
  const [path] = request.path.split("?") as [string];
  const name = path.replace("/federation/v1/", "");
  const isLie = peer.lies();
  if (isLie) peer.honest.note(`  the hostile peer lies about ${name}`);
  const answers: Record<string, Answer> = isLie ? lies : truths;
  const given = answers[name];
  if (!isLie && given === undefined) return refuse(response, 404, "route.not_found");
  const isStrange = peer.habit === null ? peer.random.below(3) === 0 : peer.habit % 5 === 0;
  if (!isLie || (given !== undefined && !isStrange)) {
    return send(peer, response, given!(peer, request));
  }
  return misbehave(peer, response);
}

function send(peer: HostilePeer, response: ServerResponse, body: unknown): unknown {
  if (body === undefined) return undefined;
  if (Array.isArray(body)) return refuse(response, body[0] as number, body[1] as string);
  response.setHeader("x-relay-signature", signAnswer(body as object, peer.signer.secretKey));
  const isPending = (body as { readonly status?: unknown }).status === "pending";
  response.writeHead(isPending ? 202 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
  return undefined;
}

/** Sends an answer that no relay sends: a refusal of another message, no JSON, too much, or no end. */
async function misbehave(peer: HostilePeer, response: ServerResponse): Promise<unknown> {
  const { random, honest } = peer;
  const kind = random.below(12);
  if (kind < 6) return refuse(response, ...peer.chooseLie(REFUSALS));
  if (kind === 6) return void response.writeHead(200).end("<html>");
  if (kind === 7) return void response.writeHead(200).end("[]");
  if (kind === 8) return void response.writeHead(200).end(`{"a":"${"x".repeat(HUGE_BYTES)}"}`);
  if (kind === 9) return void response.writeHead(200).end("{}");
  if (kind === 10) return undefined;
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"status":');
  await honest.clock.advance(limits.federationTimeoutMs + 1);
  response.destroy();
  return undefined;
}

function refuse(response: ServerResponse, status: number, code: string | undefined): void {
  response.writeHead(status, { "content-type": "application/json", "retry-after": "7200" });
  response.end(JSON.stringify({ error: "no", message: "no", code, status }));
}

const readTaskId = ({ body }: ReceivedRequest) => String(body["task_id"]);

const acceptResult: Answer = ({ signer, honest }, { body }) => {
  const receiptHash = hashReceipt(body["receipt"] as never);
  const taskId = String(body["task_id"]);
  return createResultAcceptance(
    { taskId, receiptHash, relayId: signer.relayId },
    { secretKey: signer.secretKey, now: honest.now() },
  );
};

/** Builds a settlement of a result, or of another task, as part of the answer to that result. */
export function createSettlementOf(
  peer: HostilePeer,
  { receipt }: { readonly receipt: Parameters<typeof hashReceipt>[0] },
  change: object = {},
): Record<string, unknown> {
  const order = peer.ordered.find(({ task_id }) => task_id === receipt.task_id);
  const amount = (order?.["budget"] as { readonly amount: number } | undefined)?.amount ?? 1;
  return peer.signer.createSettlement({
    task_id: receipt.task_id,
    agent_id: receipt.agent_id,
    receipt_hash: hashReceipt(receipt),
    gross_amount: amount,
    fee_rate: 0,
    fee_amount: 0,
    amount,
    ...change,
  });
}

const acceptWithSettlement: Answer = (peer, request) => {
  const { random, honest, results } = peer;
  const kind = random.below(6);
  const of = kind === 0 ? random.pick(results as [never]) : (request.body as never);
  const change = [
    {},
    {},
    { timestamp: honest.now() - 86_400_000 },
    { amount: 1_000_000, gross_amount: 1_000_000 },
    { amount: 0, gross_amount: 0 },
    { to: peer.signer.relayId },
  ][kind]!;
  const settlement = createSettlementOf(peer, of, change);
  return { ...(acceptResult(peer, request) as object), settlement };
};

const heartbeat: Answer = (peer) => createSignedHeartbeat(peer, { agent_count: AGENT_COUNT });

const AGENT_COUNT = 3;

/** Builds a heartbeat that the whole body signs. */
export function createSignedHeartbeat({ signer, honest }: HostilePeer, change: object): object {
  const timestamp = signer.nextNoticeTime();
  return createHeartbeat(
    {
      relay_id: signer.relayId,
      timestamp,
      agent_count: 0,
      to: honest.t.relay.relayId,
      features: [...FEDERATION_FEATURES],
      incarnation: 0,
      ...change,
    } as never,
    signer.secretKey,
  );
}

/** Builds a heartbeat with figures that no honest relay states. */
export function createFalseHeartbeat(peer: HostilePeer): object {
  const { random } = peer;
  return createSignedHeartbeat(peer, {
    agent_count: Number.MAX_SAFE_INTEGER,
    features: random.below(2) === 0 ? [] : ["position", "x".repeat(60)],
    incarnation: random.pick([0, 1, Number.MAX_SAFE_INTEGER]),
    position: { amount: random.pick([0, 1e9, -1e9, 0.000001]), under_way: random.below(2) === 0 },
  });
}

const identify: Answer = ({ signer, succession }) => ({
  agent_id: signer.relayId,
  public_key: signer.publicKey,
  did: hexToDidKey(signer.publicKey),
  features: [...FEDERATION_FEATURES],
  incarnation: 0,
  ...(succession.length > 0 && { succession }),
});

const answerProposal: Answer = ({ signer, random }, { body }) => {
  const nonce = String(body["nonce_a"]);
  const challenge = toBase64Url(sign(`${String(body["relay_id"])}:${nonce}`, signer.secretKey));
  const nonce_b = bytesToHex(random.randomBytes(32));
  const features = [...FEDERATION_FEATURES];
  return { ...signer.selfDescription(), features, nonce_b, challenge };
};

const answerCancel =
  (status: "cancelled" | "pending", isOther = false): Answer =>
  (peer, request) => {
    const { signer, honest, random, received } = peer;
    const other = isOther && received.length > 0 ? random.pick(received as [never]) : request.body;
    const taskId = String((other as Record<string, unknown>)["task_id"]);
    return signCancelAnswer(
      { status, taskId, relayId: signer.relayId },
      { secretKey: signer.secretKey, now: honest.now() },
    );
  };

const book: Answer = (_, { body }) => ({
  status: "settled",
  settlement_id: body["settlement_id"],
  fee_amount: 0,
  net_amount: body["amount"],
});

const listSettled: Answer = ({ settlements }, { path }) => {
  const taskId = new URL(path, "http://peer.test").searchParams.get("task_id");
  const found = settlements.filter(({ task_id }) => task_id === taskId);
  return { settlements: found.map((settlement) => ({ ...settlement, status: "settled" })) };
};

const choose =
  (...answers: readonly [Answer, ...Answer[]]): Answer =>
  (peer, request) =>
    peer.chooseLie(answers)(peer, request);

const truths: Record<string, Answer> = {
  identity: identify,
  "peer/propose": answerProposal,
  "peer/confirm": () => ({ status: "active" }),
  "peer/heartbeat": heartbeat,
  "peer/remove": () => ({ status: "removed" }),
  discover: (peer) => ({ agents: listEntries(peer) }),
  "task/forward": (_, request) => ({ task_id: readTaskId(request), status: "pending" }),
  "task/cancel": answerCancel("cancelled"),
  "task/result": acceptResult,
  "settlement/forward": book,
  settlements: listSettled,
};

const lies: Record<string, Answer> = {
  identity: choose(
    (peer, request) => ({
      ...(identify(peer, request) as object),
      agent_id: peer.agents[0]!.agentId,
    }),
    (peer, request) => ({ ...(identify(peer, request) as object), succession: [{}, {}] }),
    ({ honest }) => ({
      agent_id: honest.t.relay.relayId,
      public_key: honest.t.did,
      did: honest.t.did,
    }),
  ),
  "peer/heartbeat": createFalseHeartbeat,
  discover: (peer) => ({ agents: listFalseEntries(peer) }),
  "task/forward": choose(
    () => ({ status: "accepted" }),
    () => [409, "forward.id_taken"],
    () => [409, "forward.duplicate"],
  ),
  "task/cancel": choose(
    answerCancel("pending"),
    answerCancel("cancelled", true),
    (peer, request) =>
      signJson({ status: "cancelled", task_id: readTaskId(request) }, peer.agents[0]!.secretKey),
    () => [403, "cancel.wrong_peer"],
  ),
  "task/result": choose(
    acceptWithSettlement,
    acceptWithSettlement,
    () => ({ status: "pending" }),
    () => ({ status: "accepted" }),
    () => [404, "result.task_not_found"],
    () => [409, "result.already_finished"],
    () => [403, "result.wrong_peer"],
    () => [429, "rate.exceeded"],
  ),
  "settlement/forward": choose(
    (peer, request) => ({ ...(book(peer, request) as object), settlement_id: "another" }),
    (peer, request) => ({ ...(book(peer, request) as object), net_amount: 1e9 }),
    () => [404, "settlement.not_owed"],
    () => [409, "settlement.already_settled"],
    () => [402, "clearing.limit_exceeded"],
  ),
  settlements: choose(
    () => ({ settlements: [] }),
    ({ settlements }) => ({
      settlements: Array.from({ length: 2_000 }, () => ({ ...settlements[0], status: "settled" })),
    }),
  ),
};
