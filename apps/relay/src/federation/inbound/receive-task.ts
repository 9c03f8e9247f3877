import type { PeerOperations } from "@agent/federation-protocol/http";
import { ZERO, type Micro } from "@agent/budget";
import {
  findClaimWithKey,
  isReachable,
  toRelayNode,
  listRelays,
} from "@agent/federation-protocol/discovery";
import {
  checkForward,
  createInbound,
  type ForwardContext,
  type TaskForward,
} from "@agent/federation-protocol/forwarding";
import { buildInboundHold } from "@agent/federation-protocol/settlement";
import { verifySignedMessageAsync, type ReceivedMessage } from "@agent/federation-protocol/signing";
import { limits, type Answer, type Refusal } from "@agent/wire";
import { findVisibleProfile } from "../../agents/discovery/profile-store.ts";
import { listSigningKeys } from "../../agents/keys/key-store.ts";
import { postClearing } from "../../budget/post-clearing.ts";
import type { Attempt } from "../../routing/attempt.ts";
import { getTaskPrice } from "../../routing/price.ts";
import { newId } from "../../runtime.ts";
import type { Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { buildTaskRow } from "../../tasks/build-task-row.ts";
import { acquireTaskSlot } from "../../tasks/submission/task-quota.ts";
import { calculateForwardedExpiry } from "../../tasks/lifetime.ts";
import { findReceipt } from "../../tasks/receipts/receipt-store.ts";
import { findTask, insertTask } from "../../tasks/store.ts";
import { countHops } from "./count-hops.ts";
import { getPeerDebt } from "../exposure/get-peer-debt.ts";
import type { FederationServices } from "../federation-services.ts";
import { findInbound, saveInbound } from "./inbound-store.ts";
import { peerPayerRef } from "../peer-ref.ts";
import { findPeer } from "../peers/peer-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";
import { calculateRemotePrice, nextHopTo } from "../discovery/list-remote-candidates.ts";
import type { NextHop } from "../../routing/attempt.ts";

interface ForwardTarget {
  readonly details: NonNullable<ForwardContext["worker"]>;
  /** The next relay of the task; undefined for a local agent. */
  readonly nextHop: NextHop | undefined;
}

type ReceiveTaskAnswer =
  | Answer<PeerOperations["forwardTask"]>
  | Refusal<"federation.timestamp_expired" | "federation.signature_invalid">;

/**
 * Accepts a task from a peer: checks it, holds its price from the peer's account and stores it in one
 * transaction, and only then routes it like any other. A repeated id is answered as a duplicate.
 */
export async function receiveTask(
  services: FederationServices,
  from: FederationPeerRow,
  received: ReceivedMessage<TaskForward>,
  route: (task: TaskRow) => void,
): Promise<ReceiveTaskAnswer> {
  const { storage, runtime, config, identity, federation } = services;
  const signed = await verifySignedMessageAsync(received, from.public_key);
  if (!signed.ok) return toWireRefusal(signed);
  const { message, raw } = received;
  const { task_id, target_agent, task_payload } = message;
  const target = await findForwardTarget(services, message);
  const hops = await countHops(services, from, { message, body: raw, target });
  const outcome = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const peer = (await findPeer(tx, from.relay_id)) ?? from;
    const checked = checkForward(message, {
      from: from.relay_id,
      self: identity.relayId,
      now,
      idOwner: await findIdOwner(tx, { taskId: task_id, sender: from.relay_id }),
      worker: target?.details ?? null,
      hops,
      feeRate: config.payments.platformFeeRate,
      clearing: await getPeerDebt(tx, peer),
    });
    if (!checked.ok) return toWireRefusal(checked);
    const payer = peerPayerRef(peer.relay_id);
    const { amount } = checked;
    const quotaRefusal = await acquireTaskSlot(tx, { submitter: payer, charge: amount });
    if (quotaRefusal !== undefined) return quotaRefusal;
    const expiresAt = calculateForwardedExpiry(message.expires_at, now, config.tasks);
    const inbound = { taskId: task_id, peerId: peer.relay_id, agentId: target_agent };
    const opened = createInbound({ ...inbound, amount, expiresAt }, federation.schedule);
    await saveInbound(tx, {
      task: opened,
      publicKey: message.public_key ?? target?.details.publicKeys?.[0] ?? null,
      settlement: null,
      relayed: target?.nextHop === undefined ? null : serializeRelayed(raw),
      forward: JSON.stringify(raw),
      accepted: null,
      receivedAt: now,
      version: 0,
    });
    await postClearing(tx, runtime, buildInboundHold({ ...inbound, amount }), {
      taskId: task_id,
      description: "hold",
    });
    const row: TaskRow = {
      ...buildForwardedRow(message, { payer, peer, target, amount, now, expiresAt }),
      allocation_id: amount > 0 ? newId(runtime) : null,
    };
    await insertTask(tx, row);
    return { ok: true as const, row };
  });
  if (!outcome.ok) {
    federation.log.info("federation.task.refused", {
      correlationId: task_id,
      relay_id: from.relay_id,
      code: outcome.code,
    });
    return outcome as ReceiveTaskAnswer;
  }
  federation.log.info("federation.task.taken", {
    correlationId: task_id,
    relay_id: from.relay_id,
    agent_id: target_agent,
    capabilities: task_payload.required_capabilities ?? [],
  });
  route(outcome.row);
  return { status: 202, body: { task_id, status: "pending" } };
}

/**
 * Returns the owner of a task id, because any other party that knows the id may have used it here first.
 * The sender must learn of this, because otherwise it would wait for a task that this relay never accepted.
 */
async function findIdOwner(
  tx: Tx,
  { taskId, sender }: { readonly taskId: string; readonly sender: string },
): Promise<ForwardContext["idOwner"]> {
  const inbound = await findInbound(tx, taskId);
  if (inbound !== undefined) return inbound.task.peerId === sender ? "sender" : "other";
  const task = await findTask(tx, taskId);
  if (task !== undefined) return task.origin_peer === sender ? "sender" : "other";
  // Both rows may have been purged already, and the receipt does not name the party.
  return (await findReceipt(tx, taskId)) === undefined ? null : "sender";
}

function buildForwardedRow(
  { task_id, target_agent, task_payload, depth = 0 }: TaskForward,
  forwarded: {
    readonly payer: string;
    readonly peer: FederationPeerRow;
    readonly target: Awaited<ReturnType<typeof findForwardTarget>>;
    readonly amount: Micro;
    readonly now: number;
    readonly expiresAt: number;
  },
): TaskRow {
  const { payer, peer, target, amount, now, expiresAt } = forwarded;
  const attempt: Attempt = {
    agent_id: target_agent,
    charge: amount,
    ...(target?.nextHop !== undefined && { via: target.nextHop }),
  };
  const row = buildTaskRow({
    task_id,
    agent_id: target_agent,
    submitted_by: payer,
    origin_peer: peer.relay_id,
    work: task_payload,
    attempts: [attempt],
    now,
    expires_at: expiresAt,
  });
  return { ...row, locked: amount, depth };
}

/**
 * Returns the part of a forward that is shown to the next relay; null for one with too much beside it.
 */
function serializeRelayed(raw: unknown): string | null {
  const { task_payload: _, ...relayed } = raw as Record<string, unknown>;
  const text = JSON.stringify(relayed);
  return Buffer.byteLength(text) <= limits.relayedBytes ? text : null;
}

/**
 * Returns the local agent if peers may see it, otherwise the known route to it, otherwise the one that its
 * path names.
 */
async function findForwardTarget(
  services: FederationServices,
  { target_agent, task_payload, routing_choice, public_key }: TaskForward,
): Promise<ForwardTarget | undefined> {
  const { storage, federation, identity } = services;
  const required = task_payload.required_capabilities ?? [];
  const local = await findVisibleProfile(storage.read, { reader: "", agent_id: target_agent });
  if (local !== undefined) {
    const keys = await listSigningKeys(storage.read, target_agent);
    const publicKeys = keys
      .filter(({ valid_until }) => valid_until === null)
      .map((key) => key.public_key);
    const price = await getTaskPrice(storage.read, target_agent, required);
    return { details: { publicKeys, price }, nextHop: undefined };
  }
  const path = routing_choice?.path ?? [];
  const selfNode = toRelayNode(identity.relayId);
  const passed = path.slice(0, path.indexOf(selfNode) + 1);
  const claimed = federation.remoteAgents.get(target_agent);
  const named = claimed && findClaimWithKey(claimed, public_key);
  // A single claim under another key than the named one is checked too, so that the peer learns of the
  // conflict.
  const remote = claimed?.id_conflict === true ? named : (named ?? claimed);
  if (remote !== undefined && isReachable(remote)) {
    const nextHop = nextHopTo(services, remote);
    const onward = nextHop.route.slice(nextHop.route.indexOf(selfNode) + 1);
    return {
      details: { publicKeys: [remote.public_key], price: calculateRemotePrice(remote, required) },
      nextHop: passed.length === 0 ? nextHop : { ...nextHop, route: [...passed, ...onward] },
    };
  }
  // A restart loses the remote agents, but the path still names the next relay.
  const [next] = listRelays(path.slice(passed.length));
  if (passed.length === 0 || next === undefined || public_key === undefined) return undefined;
  const peer = await findPeer(storage.read, next);
  if (peer?.state !== "active") return undefined;
  return {
    details: { publicKeys: null, price: ZERO },
    nextHop: { relay_id: next, public_key, route: path },
  };
}
