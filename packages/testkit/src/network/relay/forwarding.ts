import {
  accountOf,
  asMicro,
  buildHoldPostings,
  computeLockAmount,
  type Micro,
  buildReleasePostings,
  toMicro,
} from "@agent/budget";
import { FEDERATION_LIMITS, parseMessage } from "@agent/federation-protocol";
import { classifyDelivery } from "@agent/federation-protocol/delivery";
import { toRelayNode, listRelays } from "@agent/federation-protocol/discovery";
import {
  beginForward,
  countPassedHops,
  createTaskForward,
  endForward,
  expireInbound,
  expireOutbound,
  isForwardDue,
  isHoldPending,
  checkForward,
  createInbound,
  createOutbound,
  releasePayable,
  type TaskForward,
  TaskForwardSchema,
} from "@agent/federation-protocol/forwarding";
import { applyPeerEvent } from "@agent/federation-protocol/peering";
import {
  buildInboundHold,
  buildInboundRelease,
  computeMinPayment,
  checkPayable,
  computeTerms,
} from "@agent/federation-protocol/settlement";
import { findReachableAgent } from "./discovery.ts";
import type { Reply } from "../links.ts";
import {
  checkDefaultTime,
  checkExpiryTime,
  checkUnpaidWithinCredit,
} from "../rules/step-checks.ts";
import type { Inbound, Outbound, OwnTask } from "./relay-store.ts";
import type { SimRelay } from "./sim-relay.ts";

/** Submits a task of an agent of this relay to an agent of another relay. */
export function submitTask(relay: SimRelay, payerId: string, agentId: string, ttlMs: number): void {
  if (!relay.isWorking) return;
  const way = findReachableAgent(relay, agentId, []);
  if (way === undefined) return relay.log("knows no way");
  const price = toMicro(way.cost ?? 0);
  const own = createOwnTask(relay, { payerId, agentId, price, ttlMs, peerId: way.via });
  if (own === null) return;
  routeTask(relay, { ...own, amount: price, path: ["self", toRelayNode(relay.id)], tried: [] });
  relay.tick();
}

/** Stores a task of an agent of this relay, with its money held; null if the money is short. */
export function createOwnTask(
  relay: SimRelay,
  input: Pick<OwnTask, "payerId" | "agentId" | "price" | "peerId"> & { readonly ttlMs: number },
): OwnTask | null {
  const { ttlMs, payerId, price, ...rest } = input;
  const available = relay.store.balanceOf(accountOf.agent(payerId));
  const locked = computeLockAmount({ estimate: price, available });
  if (locked === null) {
    relay.log("is short of money");
    return null;
  }
  const taskId = relay.newId();
  const submittedAt = relay.now;
  relay.post(taskId, buildHoldPostings({ payerId, taskId, amount: locked }));
  const own: OwnTask = {
    ...rest,
    taskId,
    payerId,
    price,
    locked,
    payload: { prompt: `do ${taskId}` },
    submittedAt,
    expiresAt: submittedAt + ttlMs,
    endsAt: relay.world.queue.now + ttlMs,
    state: "open",
  };
  relay.store.ownTasks.set(taskId, own);
  return own;
}

function findIdOwner(
  { store }: SimRelay,
  { taskId, sender }: { readonly taskId: string; readonly sender: string },
) {
  const inbound = store.inbound.get(taskId);
  if (inbound !== undefined) return inbound.task.peerId === sender ? "sender" : "other";
  return store.ownTasks.has(taskId) ? "other" : null;
}

/** Accepts a task from a peer, for an agent of its own or of another relay. */
export function receiveForward(relay: SimRelay, from: string, body: TaskForward): Reply {
  if (!relay.isUsablePeer(from)) return { status: 403 };
  const read = parseMessage(TaskForwardSchema, body);
  if (!read.ok) return relay.refuse(read);
  const forward = read.message;
  const { task_id: taskId, target_agent: agentId, task_payload: payload } = forward;
  const worker = relay.workers.get(agentId);
  const path = forward.routing_choice?.path ?? [];
  const nextRoute = worker
    ? undefined
    : findReachableAgent(relay, agentId, [...listRelays(path).slice(0, -1), from]);
  const target = worker
    ? { publicKeys: [worker.agent.publicKey], price: worker.price }
    : nextRoute && { publicKeys: [nextRoute.public_key], price: toMicro(nextRoute.cost ?? 0) };
  const checked = checkForward(forward, {
    from,
    self: relay.id,
    now: relay.now,
    lifetimeMs: relay.world.schedule.lifetimeMs,
    idOwner: findIdOwner(relay, { taskId, sender: from }),
    worker: target ?? null,
    hops: countHops(relay, from, body, target?.price ?? asMicro(0)),
    feeRate: relay.feeRate,
    clearing: relay.clearingLine(from),
  });
  if (!checked.ok) return relay.refuse(checked);
  const { amount } = checked;
  if (amount > 0) checkUnpaidWithinCredit(relay, from, amount);
  const expiresAt = Math.min(forward.expires_at ?? Infinity, relay.now + 900_000);
  const newTask = { taskId, peerId: from, agentId, amount, expiresAt };
  relay.post(taskId, buildInboundHold({ peerId: from, taskId, amount }));
  relay.store.inbound.set(taskId, {
    task: createInbound(newTask, relay.world.schedule),
    payload,
    submittedAt: relay.now,
    receipt: null,
    receivedAt: 0,
    awaitedSince: relay.world.queue.now,
    booked: null,
  });
  if (worker) relay.world.work(relay, taskId);
  else {
    const { task_payload: _, ...relayed } = body;
    routeTask(relay, {
      ...newTask,
      payload,
      path: buildPathFrom(relay, path, from),
      tried: [],
      relayed,
    });
  }
  return { status: 202, body: { task_id: taskId, status: "pending" } };
}

/**
 * The signatures of earlier relays are verified only if the payment is below the price less one
 * fee.
 */
function countHops(relay: SimRelay, from: string, body: TaskForward, price: Micro): number {
  if (toMicro(body.budget.amount) >= computeMinPayment(price, relay.feeRate, 1)) return 1;
  const keyOf = (relayId: string) => {
    const peer = relay.peer(relayId);
    return peer && (peer.record.state === "removed" ? null : peer.publicKey);
  };
  return countPassedHops(body, body, {
    from,
    findKey: keyOf,
    federationHops: FEDERATION_LIMITS.maxHops,
  });
}

/** Sends due forwards and expires tasks and holds. Yields the time of the next run. */
export function* runForwardingJobs(relay: SimRelay): Iterable<number | null> {
  for (const row of relay.store.outbound.values()) {
    if (isForwardDue(row.task, relay.now)) sendForward(relay, row);
    const current = relay.store.outbound.get(row.task.taskId) ?? row;
    const task = expireOutbound(current.task, relay.now);
    if (task !== current.task) relay.store.outbound.set(task.taskId, { ...current, task });
    if (task.state === "forwarding") yield task.dueAt;
    if (task.state === "forwarding" || task.state === "forwarded") yield task.expiresAt;
  }
  for (const row of relay.store.inbound.values()) {
    saveInbound(relay, row, expireInbound(row.task, relay.now));
    if (row.task.state === "running") yield row.task.expiresAt;
    if (isHoldPending(row.task)) yield row.task.holdUntil;
  }
  for (const own of relay.store.ownTasks.values()) {
    if (own.state !== "open") continue;
    if (relay.now >= own.expiresAt) {
      own.state = "expired";
      checkExpiryTime(relay, own);
      relay.post(own.taskId, buildReleasePostings({ ...own, amount: own.locked }));
    } else yield own.expiresAt;
  }
}

/** Stores a task and returns what is no longer held for it. */
export function saveInbound(relay: SimRelay, row: Inbound, task: Inbound["task"]): void {
  if (task === row.task) return;
  const { faults } = relay.world;
  if (task.hold === "defaulted" && row.task.hold !== "defaulted") {
    relay.count("peer defaulted");
    checkDefaultTime(relay, row);
    if (faults.ignoresDefaults) return saveInbound(relay, row, { ...task, hold: "released" });
  }
  relay.store.inbound.set(task.taskId, { ...row, task });
  if (task.state === "completed" && task.hold === "open" && task.amount > 0) relay.onAccepted?.();
  if (row.task.hold === task.hold) return;
  if (row.task.hold === "open" && task.hold !== "settled") {
    if (task.receiptStatus === "completed") relay.count("hold expired");
    relay.post(task.taskId, buildInboundRelease(task));
    const outbound = relay.store.outbound.get(task.taskId);
    if (outbound !== undefined && !faults.keepsExpiredReservations) {
      relay.store.outbound.set(task.taskId, { ...outbound, task: releasePayable(outbound.task) });
    }
  }
}

interface ForwardRequest {
  readonly taskId: string;
  readonly agentId: string;
  readonly amount: ReturnType<typeof asMicro>;
  readonly expiresAt: number;
  readonly payload: Outbound["payload"];
  readonly path: readonly string[];
  readonly tried: readonly string[];
  readonly relayed?: Outbound["relayed"];
}

/** Forwards by the best remaining path; without one the task waits for its expiry. */
function routeTask(relay: SimRelay, request: ForwardRequest): void {
  const passed = listRelays(request.path);
  const way = findReachableAgent(relay, request.agentId, [...passed, ...request.tried]);
  if (way === undefined) return relay.log(`has no way left for ${request.taskId}`);
  const terms = computeTerms(request.amount, relay.feeRate);
  const tried = [...request.tried, way.via];
  if (!checkPayable(relay.clearingLine(way.via), terms.net).ok)
    return routeTask(relay, { ...request, tried });
  const { taskId, agentId, expiresAt } = request;
  const newTask = { taskId, agentId, expiresAt, terms };
  const task = createOutbound(
    { ...newTask, peerId: way.via, publicKey: way.public_key },
    relay.now,
  );
  const path = [...request.path, toRelayNode(way.via)];
  const { payload, relayed } = request;
  relay.store.outbound.set(taskId, { task, path, payload, tried, relayed });
}

function sendForward(relay: SimRelay, row: Outbound): void {
  const before = row.task;
  const begun = beginForward(before, relay.world.schedule, relay.now);
  relay.store.outbound.set(before.taskId, { ...row, task: begun });
  const { taskId, peerId, agentId, publicKey, terms, expiresAt } = before;
  const message = createTaskForward(
    {
      taskId,
      self: relay.id,
      to: peerId,
      agentId,
      publicKey,
      payload: row.payload,
      amount: terms.net,
      composite: 0.5,
      path: [...row.path, agentId],
      expiresAt,
      relayed: row.relayed,
    },
    { secretKey: relay.secretKey, now: relay.now },
  );
  relay.send(peerId, "task/forward", message, (delivery) => {
    const peer = relay.peer(peerId);
    const meaning = classifyDelivery(delivery);
    if (peer && meaning !== "refused") {
      const succeeded = meaning !== "later" && meaning !== "unknown";
      const record = applyPeerEvent(peer.record, { type: "forward", succeeded });
      relay.store.peers.set(peerId, { ...peer, record });
    }
    const current = relay.store.outbound.get(taskId);
    if (current?.task.peerId !== peerId) return;
    const task = endForward(current.task, before, delivery);
    relay.store.outbound.set(taskId, { ...current, task });
    if (task.state === "refused" && current.task.state !== "refused") {
      routeTask(relay, { ...current, ...task, amount: terms.gross, path: row.path.slice(0, -1) });
    }
  });
}

/** Builds the path of a task up to this relay, whatever the sender had planned from here on. */
function buildPathFrom(relay: SimRelay, path: readonly string[], from: string): string[] {
  const sender = path.lastIndexOf(toRelayNode(from));
  return [...path.slice(0, sender + 1), toRelayNode(relay.id)];
}
