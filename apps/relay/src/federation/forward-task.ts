import { asMicro } from "@agent/budget";
import {
  beginForward,
  createForward,
  endForward,
  isForwardDue,
  mayOwe,
  meaningOf,
  openOutbound,
  termsOf,
  type OutboundTask,
} from "@agent/federation-protocol";
import type { RoutingChoice } from "@agent/wire";
import { clearingBalance } from "../budget/clearing.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { claimPending, releaseClaim } from "../tasks/assignment-store.ts";
import { afterClaim, announceUnclaimed } from "../tasks/release-claim.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf } from "../tasks/view.ts";
import { callPeer } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { findInbound } from "./inbound-store.ts";
import { findOutbound, putOutbound, type Outbound } from "./outbound-store.ts";
import { claimOf, isFromPeer } from "./parties.ts";
import { changePeer, peerSupports } from "./peer-life.ts";
import { findPeer } from "./peer-store.ts";
import type { Via } from "./remote-candidates.ts";
import { reservedFor } from "./reserved-store.ts";

/** A peer has its task until the task expires; it says itself when it is done. */
const leaseBeyondExpiryMs = 86_400_000;

/**
 * Hands a pending task to the peer on its way; false when that one certainly does not have it, so
 * that somebody else may. A task of which nobody knows whether it arrived stays there: a second
 * executor would be paid as well.
 */
export async function forwardTask(
  services: FederationServices,
  task: TaskRow,
  via: Via,
): Promise<boolean> {
  if (await handToPeer(services, task, via)) return true;
  services.federation.untaken.add(task.task_id);
  return false;
}

async function handToPeer(services: FederationServices, task: TaskRow, via: Via): Promise<boolean> {
  const { storage, federation } = services;
  const peer = await findPeer(storage.read, via.relay_id);
  if (peer?.state !== "active") return false;
  const begun = await storage.transaction(async (tx) => {
    const now = services.runtime.now();
    const claimed = await claimPending(tx, {
      task_id: task.task_id,
      executor: executorOf(task),
      claimed_by: claimOf(peer.relay_id),
      lease_until: task.expires_at + leaseBeyondExpiryMs,
      now,
    });
    // Somebody was faster, so the task is in good hands.
    if (!claimed) return { ok: true as const, outbound: undefined };
    const { platformFeeRate } = services.config.payments;
    const terms = termsOf(asMicro(task.charge), platformFeeRate);
    const line = await findPeer(tx, peer.relay_id);
    const credit = mayOwe(
      {
        balance: await clearingBalance(tx, peer.relay_id),
        payable: await reservedFor(tx, peer.relay_id),
        limit: asMicro(line?.credit_limit ?? 0),
      },
      terms.net,
    );
    if (!credit.ok) return credit;
    const opened = openOutbound(
      {
        taskId: task.task_id,
        peerId: peer.relay_id,
        agentId: executorOf(task),
        publicKey: via.public_key,
        terms,
        expiresAt: task.expires_at,
      },
      now,
    );
    const before = await findOutbound(tx, task.task_id);
    const outbound: Outbound = {
      task: beginForward(opened, federation.schedule, now),
      route: via.route,
      attestation: null,
      version: before?.version ?? 0,
    };
    await putOutbound(tx, outbound);
    return { ok: true as const, outbound: { before: opened, now: outbound } };
  });
  if (!begun.ok) {
    const { relay_id } = peer;
    const { code } = begun;
    federation.log.warn("federation.forward.refused", {
      correlationId: task.task_id,
      relay_id,
      code,
    });
    return false;
  }
  if (begun.outbound === undefined) return true;
  return send(services, peer, task, {
    before: begun.outbound.before,
    outbound: begun.outbound.now,
  });
}

/** Sends again what may not have arrived; `reroute` is told of a task that certainly did not. */
export async function resendForward(
  services: FederationServices,
  taskId: string,
  reroute: (taskId: string) => void,
): Promise<void> {
  const { storage, runtime, federation } = services;
  const begun = await storage.transaction(async (tx) => {
    const before = await findOutbound(tx, taskId);
    const now = runtime.now();
    if (before === undefined) return undefined;
    if (!isForwardDue(before.task, now)) {
      // It may be due for a cancel only; a forward that is due later stays so.
      if (before.task.dueAt === null || before.task.dueAt > now) return undefined;
      await putOutbound(tx, { ...before, task: { ...before.task, dueAt: null } });
      return undefined;
    }
    const outbound = { ...before, task: beginForward(before.task, federation.schedule, now) };
    await putOutbound(tx, outbound);
    return { before: before.task, outbound };
  });
  if (begun === undefined) return;
  const [peer, task] = await Promise.all([
    findPeer(storage.read, begun.outbound.task.peerId),
    findTask(storage.read, taskId),
  ]);
  if (peer === undefined || task === undefined) return;
  if (!(await send(services, peer, task, begun))) reroute(taskId);
}

async function send(
  services: FederationServices,
  peer: FederationPeerRow,
  task: TaskRow,
  { before, outbound }: { readonly before: OutboundTask; readonly outbound: Outbound },
): Promise<boolean> {
  const { storage, runtime, identity, federation } = services;
  const { taskId, terms } = outbound.task;
  const choice =
    task.routing_choice === null ? null : (JSON.parse(task.routing_choice) as RoutingChoice);
  const required = JSON.parse(task.required_capabilities) as string[];
  const relayed =
    isFromPeer(task) &&
    peerSupports(peer, "relayed") &&
    (await findInbound(storage.read, taskId))?.relayed;
  const body = createForward(
    {
      taskId,
      self: identity.relayId,
      to: peer.relay_id,
      agentId: outbound.task.agentId,
      publicKey: outbound.task.publicKey,
      payload: {
        prompt: task.prompt,
        ...(required.length > 0 && { required_capabilities: required }),
        ...(task.wall_clock_ms !== null && { wall_clock_ms: Math.ceil(task.wall_clock_ms) }),
      },
      amount: terms.net,
      composite: choice?.composite_score ?? 0,
      path: outbound.route,
      expiresAt: task.expires_at,
      relayed: relayed ? (JSON.parse(relayed) as Record<string, unknown>) : undefined,
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
    // Its first copy is what became of it; nothing is said of it twice.
    await putOutbound(tx, { ...stored, task: ended });
    if (ended.state !== "refused") return undefined;
    const claimed_by = claimOf(peer.relay_id);
    const released = await releaseClaim(tx, { task_id: taskId, claimed_by, now: runtime.now() });
    return { unclaimed: released && (await afterClaim(tx, services, released)) };
  });
  if (refused?.unclaimed !== undefined) announceUnclaimed(services, refused.unclaimed);
  const meaning = meaningOf(delivery);
  federation.log.info("federation.task.forward", {
    correlationId: taskId,
    relay_id: peer.relay_id,
    meaning,
    code,
  });
  // A refusal shows that the way is open.
  const answered = delivery.kind === "answered" && delivery.status < 500;
  await changePeer(services, peer.relay_id, { type: "forward", succeeded: answered });
  // A task that was to be cancelled goes nowhere else.
  return refused === undefined || refused.unclaimed?.status === "cancelled";
}
