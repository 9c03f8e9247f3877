import {
  abandonReturn,
  awaitLateSettlement,
  beginReturn,
  concludeRelayed,
  endReturn,
  expireInbound,
  isReturnDue,
  readAccepted,
  readMessage,
  SettlementForwardSchema,
  TaskResultAnswerSchema,
  type Accepted,
  type InboundTask,
} from "@agent/federation-protocol";
import { signAttestation, type ExecutionReceipt } from "@agent/receipts";
import type { Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { findReceipt } from "../tasks/receipt-store.ts";
import { addressed, callPeer, type PeerReply } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { underPeerKey } from "./follow-peer-key.ts";
import { releaseInbound } from "./finish-inbound.ts";
import { findInbound, putInbound, type Inbound } from "./inbound-store.ts";
import { findOutbound, putOutbound } from "./outbound-store.ts";
import { peerSupports } from "./peer-life.ts";
import { recordDefault, reportDefault } from "./record-default.ts";
import { findPeer } from "./peer-store.ts";
import { isForgotten } from "./retention.ts";

/** Books a settlement that a peer has signed; bookSettlement in a running relay. */
export type BookSettlement = (
  services: FederationServices,
  from: FederationPeerRow,
  body: unknown,
  askedAt: number,
) => Promise<unknown>;

/** Brings the result of a peer's task back to it, and lets go of a hold that is never settled. */
export async function returnResult(
  services: FederationServices,
  taskId: string,
  book: BookSettlement,
): Promise<void> {
  const { storage, runtime, config, federation } = services;
  const begun = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    if (inbound === undefined) return undefined;
    const now = runtime.now();
    const { task: waiting } = inbound;
    if (isReturnDue(waiting, now) && !isForgotten(config, waiting.holdUntil, now)) {
      const task = beginReturn(waiting, federation.schedule, now);
      await putInbound(tx, { ...inbound, task });
      return { ...inbound, task };
    }
    const over = isReturnDue(waiting, now) ? abandonReturn(waiting) : expireInbound(waiting, now);
    await move(tx, services, inbound, over);
    if (over.hold !== "defaulted" || waiting.hold === "defaulted") return undefined;
    return { defaulted: over, trust: await recordDefault(tx, services, over) };
  });
  if (begun === undefined) return;
  if ("defaulted" in begun) return reportDefault(services, begun.defaulted, begun.trust);
  const [peer, archived] = await Promise.all([
    findPeer(storage.read, begun.task.peerId),
    findReceipt(storage.read, taskId),
  ]);
  if (peer === undefined || archived === undefined) return;
  const body = addressed(services, peer, resultOf(services, begun, archived));
  const path = "/federation/v1/task/result";
  const reply = await callPeer(services, peer, { method: "POST", path, body });
  const { peer: signer, judged: accepted } = await underPeerKey(
    services,
    peer,
    (known) => acceptedIn(known, begun.task, reply),
    (found) => found === null,
  );
  if (accepted === null) {
    const fields = { correlationId: taskId, relay_id: peer.relay_id };
    federation.log.warn("federation.accepted_unsigned", fields);
  }
  const settlement = settlementIn(services, reply);
  if (settlement !== undefined) await book(services, signer, settlement, body.timestamp);
  const task = await storage.transaction(async (tx) => {
    const inbound = await findInbound(tx, taskId);
    if (inbound === undefined) return undefined;
    const { holdMs } = federation.schedule;
    const answered = endReturn(inbound.task, reply.delivery);
    const ended = awaitLateSettlement(answered, inbound.task, { now: runtime.now(), holdMs });
    const kept = !accepted ? inbound : { ...inbound, accepted };
    return move(tx, services, kept, ended);
  });
  federation.log.info("federation.result.returned", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    state: task?.state,
    code: reply.code,
  });
}

/** The settlement in an answer to a result, if it was made for this relay; its time is judged later. */
function settlementIn({ identity }: FederationServices, { delivery, body }: PeerReply): unknown {
  if (delivery.kind !== "answered" || delivery.status !== 200) return undefined;
  const answer = readMessage(TaskResultAnswerSchema, body);
  const settlement = readMessage(
    SettlementForwardSchema,
    answer.ok ? answer.message.settlement : undefined,
  );
  if (!answer.ok || !settlement.ok) return undefined;
  const { to = identity.relayId } = settlement.message;
  return to === identity.relayId ? answer.message.settlement : undefined;
}

/**
 * The peer's signed acceptance, null when a peer that names the feature did not sign it, and undefined
 * where there is none to sign.
 */
function acceptedIn(
  peer: FederationPeerRow,
  { taskId, receiptHash }: InboundTask,
  { delivery, body }: PeerReply,
): Accepted | null | undefined {
  const isAccepted = delivery.kind === "answered" && delivery.status === 200;
  if (!isAccepted || receiptHash === null || !peerSupports(peer, "signed_accepted")) {
    return undefined;
  }
  const { relay_id: relayId, public_key: publicKey } = peer;
  return readAccepted(body, { taskId, receiptHash, relayId, publicKey });
}

/** The receipt, with this relay's own word on it: each hop is between two relays. */
function resultOf(
  { identity, runtime }: FederationServices,
  { task, publicKey }: Inbound,
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
  const receipt = JSON.parse(archived.body) as ExecutionReceipt;
  return {
    task_id: task.taskId,
    origin_relay: relayId,
    receipt,
    public_key: publicKey ?? receipt.public_key,
    attestation,
  };
}

/** Stores a change with what follows from it: a released hold, a relayed result that is final. */
async function move(
  tx: Tx,
  { runtime }: FederationServices,
  inbound: Inbound,
  task: InboundTask,
): Promise<InboundTask> {
  if (task === inbound.task) return task;
  await putInbound(tx, { ...inbound, task });
  if (inbound.task.hold === "open" && (task.hold === "released" || task.hold === "defaulted")) {
    await releaseInbound(tx, runtime, task);
  }
  const isFinal = task.state !== "returning" && task.state !== "running";
  if (isFinal) await concludeRelay(tx, task.taskId, task.state !== "void");
  return task;
}

/** What the relay before this one says of a result is what this one says to the relay behind it. */
export async function concludeRelay(tx: Tx, taskId: string, accepted: boolean): Promise<void> {
  const relayed = await findOutbound(tx, taskId);
  if (relayed?.task.state !== "relaying") return;
  await putOutbound(tx, { ...relayed, task: concludeRelayed(relayed.task, accepted) });
}
