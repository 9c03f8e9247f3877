import { ZERO } from "@agent/budget";
import { classifyDelivery, type Delivery } from "@agent/federation-protocol/delivery";
import {
  beginForward,
  createTaskForward,
  endForward,
  isForwardDue,
  createOutbound,
  type OutboundTask,
  type TaskForward,
  type TaskPayload,
} from "@agent/federation-protocol/forwarding";
import { checkPayable, computeTerms } from "@agent/federation-protocol/settlement";
import { getClearingBalance } from "../../budget/post-clearing.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { claimPending, releaseClaim } from "../../tasks/assignment/claim-store.ts";
import { resolveEndedClaim, publishReleasedTask } from "../../tasks/assignment/end-claim.ts";
import { findTask } from "../../tasks/store.ts";
import { executorOf, parseRequiredCapabilities, parseRoutingChoice } from "../../tasks/task.ts";
import { callPeer } from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { findInbound } from "../inbound/inbound-store.ts";
import { findOutbound, saveOutbound, type OutboundRecord } from "./outbound-store.ts";
import { peerClaimRef, isFromPeer } from "../peer-ref.ts";
import { recordPeerEvent, peerSupports } from "../peers/peer-state.ts";
import { findPeer } from "../peers/peer-store.ts";
import type { NextHop } from "../../routing/attempt.ts";
import { getReservedAmount } from "../settlement/reserved-store.ts";

/** A peer keeps its task until the task expires, and reports on its own when it is done. */
const LEASE_AFTER_EXPIRY_MS = 86_400_000;

/**
 * Forwards a pending task to the next peer; false when that peer certainly does not have it, so that
 * another executor may be tried. A task that may have arrived stays there, because a second executor
 * would also need payment.
 */
export async function forwardTask(
  services: FederationServices,
  task: TaskRow,
  nextHop: NextHop,
): Promise<boolean> {
  if (await sendToPeer(services, task, nextHop)) return true;
  services.federation.undeliveredTasks.add(task.task_id);
  return false;
}

async function sendToPeer(
  services: FederationServices,
  task: TaskRow,
  nextHop: NextHop,
): Promise<boolean> {
  const { storage, federation } = services;
  const peer = await findPeer(storage.read, nextHop.relay_id);
  if (peer?.state !== "active") return false;
  const started = await storage.transaction(async (tx) => {
    const now = services.runtime.now();
    const claimed = await claimPending(tx, {
      task_id: task.task_id,
      executor: executorOf(task),
      claimed_by: peerClaimRef(peer.relay_id),
      lease_until: task.expires_at + LEASE_AFTER_EXPIRY_MS,
      now,
    });
    // Another executor has claimed the task in the meantime.
    if (!claimed) return { ok: true as const, outbound: undefined };
    const { platformFeeRate } = services.config.payments;
    const terms = computeTerms(task.charge, platformFeeRate);
    const creditPeer = await findPeer(tx, peer.relay_id);
    const credit = checkPayable(
      {
        balance: await getClearingBalance(tx, peer.relay_id),
        payable: await getReservedAmount(tx, peer.relay_id),
        limit: creditPeer?.credit_limit ?? ZERO,
      },
      terms.net,
    );
    if (!credit.ok) return credit;
    const opened = createOutbound(
      {
        taskId: task.task_id,
        peerId: peer.relay_id,
        agentId: executorOf(task),
        publicKey: nextHop.public_key,
        terms,
        expiresAt: task.expires_at,
      },
      now,
    );
    const before = await findOutbound(tx, task.task_id);
    const outbound: OutboundRecord = {
      task: beginForward(opened, federation.schedule, now),
      route: nextHop.route,
      attestation: null,
      forwardedAt: now,
      version: before?.version ?? 0,
    };
    await saveOutbound(tx, outbound);
    return { ok: true as const, outbound: { before: opened, now: outbound } };
  });
  if (!started.ok) {
    const { relay_id } = peer;
    const { code } = started;
    federation.log.warn("federation.forward.refused", {
      correlationId: task.task_id,
      relay_id,
      code,
    });
    return false;
  }
  if (started.outbound === undefined) return true;
  return sendForward(services, peer, task, {
    before: started.outbound.before,
    outbound: started.outbound.now,
  });
}

/**
 * Sends a forward again that may not have arrived; calls `reroute` for a task that certainly did not.
 */
export async function resendForward(
  services: FederationServices,
  taskId: string,
  reroute: (taskId: string) => void,
): Promise<void> {
  const { storage, runtime, federation } = services;
  const started = await storage.transaction(async (tx) => {
    const before = await findOutbound(tx, taskId);
    const now = runtime.now();
    if (before === undefined) return undefined;
    if (!isForwardDue(before.task, now)) {
      // It may be due for a cancel only; a forward that is due later remains scheduled.
      if (before.task.dueAt === null || before.task.dueAt > now) return undefined;
      await saveOutbound(tx, { ...before, task: { ...before.task, dueAt: null } });
      return undefined;
    }
    const outbound = { ...before, task: beginForward(before.task, federation.schedule, now) };
    await saveOutbound(tx, outbound);
    return { before: before.task, outbound };
  });
  if (started === undefined) return;
  const [peer, task] = await Promise.all([
    findPeer(storage.read, started.outbound.task.peerId),
    findTask(storage.read, taskId),
  ]);
  if (peer === undefined || task === undefined) return;
  if (!(await sendForward(services, peer, task, started))) reroute(taskId);
}

async function sendForward(
  services: FederationServices,
  peer: FederationPeerRow,
  task: TaskRow,
  { before, outbound }: { readonly before: OutboundTask; readonly outbound: OutboundRecord },
): Promise<boolean> {
  const { storage, runtime, identity, federation } = services;
  const { taskId, terms } = outbound.task;
  const choice = parseRoutingChoice(task);
  const relayedForward = await buildRelayedForward(services, peer, task);
  const body = createTaskForward(
    {
      taskId,
      self: identity.relayId,
      to: peer.relay_id,
      agentId: outbound.task.agentId,
      publicKey: outbound.task.publicKey,
      payload: relayedForward?.payload ?? buildPayload(task),
      amount: terms.net,
      composite: choice?.composite_score ?? 0,
      path: outbound.route,
      expiresAt: task.expires_at,
      depth: task.depth,
      relayed: relayedForward?.relayed,
    },
    { secretKey: identity.secretKey, now: runtime.now() },
  );
  const path = "/federation/v1/task/forward";
  const { delivery, code } = await callPeer(services, peer, { method: "POST", path, body });
  const refused = await storage.transaction(async (tx) => {
    const stored = await findOutbound(tx, taskId);
    if (stored === undefined) return undefined;
    const ended = endForward(stored.task, before, delivery);
    if (ended === stored.task) return undefined;
    // The first copy has decided already; the outcome is recorded once.
    await saveOutbound(tx, { ...stored, task: ended });
    if (ended.state !== "refused") return undefined;
    const claimed_by = peerClaimRef(peer.relay_id);
    const released = await releaseClaim(tx, { task_id: taskId, claimed_by, now: runtime.now() });
    return { unclaimed: released && (await resolveEndedClaim(tx, services, released)) };
  });
  if (refused?.unclaimed !== undefined) publishReleasedTask(services, refused.unclaimed);
  const meaning = classifyDelivery(delivery);
  federation.log.info("federation.task.forward", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    meaning,
    code,
  });
  const succeeded = isAnswerOfPeer(delivery);
  await recordPeerEvent(services, peer.relay_id, { type: "forward", succeeded });
  // A task with a requested cancel goes to no other executor.
  return refused === undefined || refused.unclaimed?.status === "cancelled";
}

/**
 * Returns whether a peer itself has answered a forward. A refusal also shows that the peer can be reached, but
 * one without a code is that of a proxy, behind which the peer may not be.
 */
function isAnswerOfPeer(delivery: Delivery): boolean {
  if (delivery.kind !== "answered") return false;
  const { status, code } = delivery;
  return status < 300 || (status < 500 && code !== undefined);
}

function buildPayload(task: TaskRow): TaskPayload {
  const { prompt, wall_clock_ms } = task;
  const required = parseRequiredCapabilities(task);
  return {
    prompt,
    ...(required.length > 0 && { required_capabilities: required }),
    ...(wall_clock_ms !== null && { wall_clock_ms: Math.ceil(wall_clock_ms) }),
  };
}

/**
 * Builds the forward that a middle relay shows to the next one, if that peer supports it. The task
 * payload stays as received, members of other versions included, because the previous relay's signature
 * covers all of it.
 */
async function buildRelayedForward(
  { storage }: Pick<FederationServices, "storage">,
  peer: FederationPeerRow,
  task: TaskRow,
): Promise<{ relayed: Record<string, unknown>; payload: TaskPayload | undefined } | undefined> {
  if (!isFromPeer(task) || !peerSupports(peer, "relayed")) return undefined;
  const { relayed = null, forward = null } = (await findInbound(storage.read, task.task_id)) ?? {};
  if (relayed === null) return undefined;
  const order = forward === null ? undefined : (JSON.parse(forward) as TaskForward);
  return { relayed: JSON.parse(relayed) as Record<string, unknown>, payload: order?.task_payload };
}
