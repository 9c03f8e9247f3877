import { parseMessage } from "@agent/federation-protocol";
import {
  abandonReturn,
  awaitLateSettlement,
  beginReturn,
  completeRelayed,
  endReturn,
  expireInbound,
  getUndecidedAmount,
  isReturnDue,
  releasePayable,
  TaskResultAnswerSchema,
  type InboundTask,
} from "@agent/federation-protocol/forwarding";
import {
  SettlementForwardSchema,
  type SettlementForward,
} from "@agent/federation-protocol/settlement";
import {
  parseResultAcceptance,
  type ReceivedMessage,
  type ResultAcceptance,
} from "@agent/federation-protocol/signing";
import { signAttestation } from "@agent/receipts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { findReceipt } from "../../tasks/receipts/receipt-store.ts";
import { withRecipient, callPeer, type PeerReply } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { verifyWithPeerKey } from "../peers/peer-key.ts";
import { releaseInboundHold } from "./finish-inbound-task.ts";
import { findInbound, saveInbound, type InboundRecord } from "./inbound-store.ts";
import { updateOutbound } from "../outbound/outbound-store.ts";
import { peerSupports } from "../peers/peer-state.ts";
import { findExcessRefusals, logExcessRefusals } from "../exposure/log-refused.ts";
import { logUndecided } from "../exposure/log-undecided.ts";
import { recordDefault, publishDefault } from "../exposure/record-default.ts";
import { findPeer } from "../peers/peer-store.ts";
import { isPurged } from "../retention.ts";
import { parseArchivedReceipt } from "../../tasks/receipts/parse-archived-receipt.ts";

/** Books a settlement that a peer has signed (`receiveSettlement`). */
export type ReceiveSettlement = (
  services: FederationServices,
  from: FederationPeerRow,
  received: ReceivedMessage<SettlementForward>,
  askedAt: number,
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly code: string }>;

/** Sends the result of a peer's task back, and releases a hold that is never settled. */
export async function sendResult(
  services: FederationServices,
  taskId: string,
  receiveSettlement: ReceiveSettlement,
): Promise<void> {
  const { storage, runtime, config, federation } = services;
  const started = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    if (inbound === undefined) return undefined;
    const now = runtime.now();
    const { task: waiting } = inbound;
    if (isReturnDue(waiting, now) && !isPurged(config, waiting.holdUntil, now)) {
      const task = beginReturn(waiting, federation.schedule, now);
      await saveInbound(tx, { ...inbound, task });
      return { ...inbound, task };
    }
    const concluded = isReturnDue(waiting, now)
      ? abandonReturn(waiting)
      : expireInbound(waiting, now);
    await applyInboundTransition(tx, services, inbound, concluded);
    if (concluded.hold === "defaulted" && waiting.hold !== "defaulted") {
      return { defaulted: concluded, trust: await recordDefault(tx, services, concluded) };
    }
    const isUndecided = getUndecidedAmount(concluded) > getUndecidedAmount(waiting);
    if (isUndecided) return { undecided: concluded };
    const excess = await findExcessRefusals(tx, waiting, concluded);
    return excess && { excess };
  });
  if (started === undefined) return;
  if ("undecided" in started) return logUndecided(services, started.undecided);
  if ("excess" in started) return logExcessRefusals(services, started.excess);
  if ("defaulted" in started) return publishDefault(services, started.defaulted, started.trust);
  const [peer, archived] = await Promise.all([
    findPeer(storage.read, started.task.peerId),
    findReceipt(storage.read, taskId),
  ]);
  if (peer === undefined || archived === undefined) return;
  const body = withRecipient(services, peer, buildResult(services, started, archived));
  const path = "/federation/v1/task/result";
  const reply = await callPeer(services, peer, { method: "POST", path, body });
  const { peer: signer, checked: accepted } = await verifyWithPeerKey(
    services,
    peer,
    (known) => parseAcceptance(known, started.task, reply),
    (found) => found === null,
  );
  if (accepted === null) {
    const fields = { correlationId: taskId, relay_id: peer.relay_id };
    federation.log.warn("federation.accepted_unsigned", fields);
  }
  const settlement = parseSettlement(services, reply);
  const received =
    settlement && (await receiveSettlement(services, signer, settlement, body.timestamp));
  const isSettlementExpired =
    received?.ok === false && received.code === "federation.timestamp_expired";
  const after = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    if (inbound === undefined) return undefined;
    const times = { sentAt: body.timestamp, now: runtime.now() };
    const schedule = { ...federation.schedule, ...times, isSettlementExpired };
    const answered = endReturn(inbound.task, reply.delivery, schedule);
    const ended = awaitLateSettlement(answered, inbound.task, schedule);
    const withAcceptance = !accepted ? inbound : { ...inbound, accepted };
    const task = await applyInboundTransition(tx, services, withAcceptance, ended);
    return { task, excess: await findExcessRefusals(tx, inbound.task, task) };
  });
  if (after?.excess !== undefined) logExcessRefusals(services, after.excess);
  federation.log.info("federation.result.returned", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    state: after?.task.state,
    code: reply.code,
  });
}

/**
 * Returns the settlement in the answer to a result, if it was made for this relay. Its time is checked
 * later.
 */
function parseSettlement({ identity }: FederationServices, { delivery, body }: PeerReply) {
  if (delivery.kind !== "answered" || delivery.status !== 200) return undefined;
  const answer = parseMessage(TaskResultAnswerSchema, body);
  const raw = answer.ok ? answer.message.settlement : undefined;
  const settlement = parseMessage(SettlementForwardSchema, raw);
  if (!settlement.ok) return undefined;
  const { message } = settlement;
  const { to = identity.relayId } = message;
  return to === identity.relayId ? { message, raw } : undefined;
}

/**
 * Returns the peer's signed acceptance; null if a peer that supports signing did not sign it, undefined if
 * there is nothing to sign.
 */
function parseAcceptance(
  peer: FederationPeerRow,
  { taskId, receiptHash }: InboundTask,
  { delivery, body }: PeerReply,
): ResultAcceptance | null | undefined {
  const isAccepted = delivery.kind === "answered" && delivery.status === 200;
  if (!isAccepted || receiptHash === null || !peerSupports(peer, "signed_accepted")) {
    return undefined;
  }
  const { relay_id: relayId, public_key: publicKey } = peer;
  return parseResultAcceptance(body, { taskId, receiptHash, relayId, publicKey });
}

/** Builds the result from the receipt and this relay's attestation: each hop is between two relays. */
function buildResult(
  { identity, runtime }: FederationServices,
  { task, publicKey }: InboundRecord,
  archived: { readonly body: string; readonly receipt_hash: string; readonly received_at: number },
) {
  const { relayId, secretKey } = identity;
  const attestation = signAttestation(
    {
      relay_id: relayId,
      task_id: task.taskId,
      receipt_hash: archived.receipt_hash,
      received_at: archived.received_at,
      attested_at: Math.max(runtime.now(), archived.received_at),
    },
    secretKey,
  );
  const receipt = parseArchivedReceipt(archived.body);
  return {
    task_id: task.taskId,
    origin_relay: relayId,
    receipt,
    public_key: publicKey ?? receipt.public_key,
    attestation,
  };
}

/** Stores a change together with its consequences: a released hold, a relayed result that is final. */
async function applyInboundTransition(
  tx: Tx,
  { runtime }: FederationServices,
  inbound: InboundRecord,
  task: InboundTask,
): Promise<InboundTask> {
  if (task === inbound.task) return task;
  await saveInbound(tx, { ...inbound, task });
  if (inbound.task.hold === "open" && (task.hold === "released" || task.hold === "defaulted")) {
    await releaseInboundHold(tx, runtime, task);
  }
  const isFinal = task.state !== "returning" && task.state !== "running";
  if (isFinal) await concludeRelayedResult(tx, task.taskId, task.state !== "void");
  return task;
}

/**
 * Passes the previous relay's decision on a result on to the next relay. After a restore the previous relay may
 * refuse a result that it had accepted. It cannot settle that result any more, so nothing is reserved for it.
 */
export async function concludeRelayedResult(
  tx: Tx,
  taskId: string,
  accepted: boolean,
): Promise<void> {
  await updateOutbound(tx, taskId, (task) => {
    const completed = completeRelayed(task, accepted);
    return accepted ? completed : releasePayable(completed);
  });
}
