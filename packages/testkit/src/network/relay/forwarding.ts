import {
  accountOf,
  asMicro,
  holdPostings,
  lockAmount,
  type Micro,
  releasePostings,
  toMicro,
} from "@agent/budget";
import {
  beginForward,
  countPassedHops,
  createForward,
  endForward,
  expireInbound,
  expireOutbound,
  FEDERATION_LIMITS,
  inboundHold,
  inboundRelease,
  isForwardDue,
  isHoldPending,
  judgeForward,
  leastPayment,
  mayOwe,
  meaningOf,
  movePeer,
  openInbound,
  openOutbound,
  readMessage,
  relayNode,
  relaysOf,
  releasePayable,
  type TaskForward,
  TaskForwardSchema,
  termsOf,
} from "@agent/federation-protocol";
import { wayTo } from "./discovering.ts";
import type { Reply } from "../links.ts";
import { defaultsInTime, expiresInTime, unpaidStaysWithinCredit } from "../rules/on-the-way.ts";
import type { Inbound, Outbound, OwnTask } from "./relay-store.ts";
import type { SimRelay } from "./sim-relay.ts";

/** An agent of this relay delegates to one that another relay has. */
export function submit(relay: SimRelay, payerId: string, agentId: string, ttlMs: number): void {
  if (!relay.isWorking) return;
  const way = wayTo(relay, agentId, []);
  if (way === undefined) return relay.note("knows no way");
  const price = toMicro(way.cost ?? 0);
  const own = openOwn(relay, { payerId, agentId, price, ttlMs, peerId: way.via });
  if (own === null) return;
  route(relay, { ...own, amount: price, path: ["self", relayNode(relay.id)], tried: [] });
  relay.tick();
}

/** Stores a task of an agent of this relay, with its money held; null if the money is short. */
export function openOwn(
  relay: SimRelay,
  order: Pick<OwnTask, "payerId" | "agentId" | "price" | "peerId"> & { readonly ttlMs: number },
): OwnTask | null {
  const { ttlMs, payerId, price, ...rest } = order;
  const available = relay.store.balanceOf(accountOf.agent(payerId));
  const locked = lockAmount({ estimate: price, available });
  if (locked === null) {
    relay.note("is short of money");
    return null;
  }
  const taskId = relay.newId();
  const submittedAt = relay.now;
  relay.post(taskId, holdPostings({ payerId, taskId, amount: locked }));
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
  relay.store.own.set(taskId, own);
  return own;
}

/** Takes a task over from a peer, for an agent of its own or for one further on. */
export function takeForward(relay: SimRelay, from: string, body: TaskForward): Reply {
  if (!relay.isUsablePeer(from)) return { status: 403 };
  const read = readMessage(TaskForwardSchema, body);
  if (!read.ok) return relay.refuse(read);
  const forward = read.message;
  const { task_id: taskId, target_agent: agentId, task_payload: payload } = forward;
  const worker = relay.workers.get(agentId);
  const path = forward.routing_choice?.path ?? [];
  const way = worker ? undefined : wayTo(relay, agentId, [...relaysOf(path).slice(0, -1), from]);
  const target = worker
    ? { publicKeys: [worker.agent.publicKey], price: worker.price }
    : way && { publicKeys: [way.public_key], price: toMicro(way.cost ?? 0) };
  const judged = judgeForward(forward, {
    from,
    self: relay.id,
    now: relay.now,
    lifetimeMs: relay.world.schedule.lifetimeMs,
    isKnown: relay.store.inbound.has(taskId) || relay.store.own.has(taskId),
    worker: target ?? null,
    hops: hopsOf(relay, from, body, target?.price ?? asMicro(0)),
    feeRate: relay.feeRate,
    clearing: relay.lineWith(from),
  });
  if (!judged.ok) return relay.refuse(judged);
  const { amount } = judged;
  if (amount > 0) unpaidStaysWithinCredit(relay, from, amount);
  const expiresAt = Math.min(forward.expires_at ?? Infinity, relay.now + 900_000);
  const taken = { taskId, peerId: from, agentId, amount, expiresAt };
  relay.post(taskId, inboundHold({ peerId: from, taskId, amount }));
  relay.store.inbound.set(taskId, {
    task: openInbound(taken, relay.world.schedule),
    path,
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
    route(relay, { ...taken, payload, path: pathUpTo(relay, path, from), tried: [], relayed });
  }
  return { status: 202, body: { task_id: taskId, status: "pending" } };
}

/** The signatures of earlier relays are looked at only where the payment is less than one fee allows. */
function hopsOf(relay: SimRelay, from: string, body: TaskForward, price: Micro): number {
  if (toMicro(body.budget.amount) >= leastPayment(price, relay.feeRate, 1)) return 1;
  const keyOf = (relayId: string) => {
    const peer = relay.peer(relayId);
    return peer && (peer.life.state === "removed" ? null : peer.publicKey);
  };
  return countPassedHops(body, body, { from, keyOf, federationHops: FEDERATION_LIMITS.maxHops });
}

/** What time does: forwards leave, tasks expire, holds lapse. Yields when it has to look again. */
export function* forwardingJobs(relay: SimRelay): Iterable<number | null> {
  for (const row of relay.store.outbound.values()) {
    if (isForwardDue(row.task, relay.now)) sendForward(relay, row);
    const current = relay.store.outbound.get(row.task.taskId) ?? row;
    const task = expireOutbound(current.task, relay.now);
    if (task !== current.task) relay.store.outbound.set(task.taskId, { ...current, task });
    if (task.state === "forwarding") yield task.dueAt;
    if (task.state === "forwarding" || task.state === "forwarded") yield task.expiresAt;
  }
  for (const row of relay.store.inbound.values()) {
    storeInbound(relay, row, expireInbound(row.task, relay.now));
    if (row.task.state === "running") yield row.task.expiresAt;
    if (isHoldPending(row.task)) yield row.task.holdUntil;
  }
  for (const own of relay.store.own.values()) {
    if (own.state !== "open") continue;
    if (relay.now >= own.expiresAt) {
      own.state = "expired";
      expiresInTime(relay, own);
      relay.post(own.taskId, releasePostings({ ...own, amount: own.locked }));
    } else yield own.expiresAt;
  }
}

/** Keeps a task as it is from now on, and gives back what is no longer held for it. */
export function storeInbound(relay: SimRelay, row: Inbound, task: Inbound["task"]): void {
  if (task === row.task) return;
  const { faults } = relay.world;
  if (task.hold === "defaulted" && row.task.hold !== "defaulted") {
    relay.tally("peer defaulted");
    defaultsInTime(relay, row);
    if (faults.forgivesDefaults) return storeInbound(relay, row, { ...task, hold: "released" });
  }
  relay.store.inbound.set(task.taskId, { ...row, task });
  if (task.state === "completed" && task.hold === "open" && task.amount > 0) relay.whenAccepted?.();
  if (row.task.hold === task.hold) return;
  if (row.task.hold === "open" && task.hold !== "settled") {
    if (task.receiptStatus === "completed") relay.tally("hold lapsed");
    relay.post(task.taskId, inboundRelease(task));
    const onward = relay.store.outbound.get(task.taskId);
    if (onward !== undefined && !faults.keepsLapsedReservations) {
      relay.store.outbound.set(task.taskId, { ...onward, task: releasePayable(onward.task) });
    }
  }
}

interface Wanted {
  readonly taskId: string;
  readonly agentId: string;
  readonly amount: ReturnType<typeof asMicro>;
  readonly expiresAt: number;
  readonly payload: Outbound["payload"];
  readonly path: readonly string[];
  readonly tried: readonly string[];
  readonly relayed?: Outbound["relayed"];
}

/** Opens the forward by the best way that is left; without one the task waits for its end. */
function route(relay: SimRelay, wanted: Wanted): void {
  const passed = relaysOf(wanted.path);
  const way = wayTo(relay, wanted.agentId, [...passed, ...wanted.tried]);
  if (way === undefined) return relay.note(`has no way left for ${wanted.taskId}`);
  const terms = termsOf(wanted.amount, relay.feeRate);
  const tried = [...wanted.tried, way.via];
  if (!mayOwe(relay.lineWith(way.via), terms.net).ok) return route(relay, { ...wanted, tried });
  const { taskId, agentId, expiresAt } = wanted;
  const order = { taskId, agentId, expiresAt, terms };
  const task = openOutbound({ ...order, peerId: way.via, publicKey: way.public_key }, relay.now);
  const path = [...wanted.path, relayNode(way.via)];
  const { payload, relayed } = wanted;
  relay.store.outbound.set(taskId, { task, path, payload, tried, relayed });
}

function sendForward(relay: SimRelay, row: Outbound): void {
  const before = row.task;
  const begun = beginForward(before, relay.world.schedule, relay.now);
  relay.store.outbound.set(before.taskId, { ...row, task: begun });
  const { taskId, peerId, agentId, publicKey, terms, expiresAt } = before;
  const message = createForward(
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
    const meaning = meaningOf(delivery);
    if (peer && meaning !== "refused") {
      const succeeded = meaning !== "later" && meaning !== "unknown";
      const life = movePeer(peer.life, { type: "forward", succeeded });
      relay.store.peers.set(peerId, { ...peer, life });
    }
    const current = relay.store.outbound.get(taskId);
    if (current?.task.peerId !== peerId) return;
    const task = endForward(current.task, before, delivery);
    relay.store.outbound.set(taskId, { ...current, task });
    if (task.state === "refused" && current.task.state !== "refused") {
      route(relay, { ...current, ...task, amount: terms.gross, path: row.path.slice(0, -1) });
    }
  });
}

/** The path of a task that came this far, whatever the sender had planned from here on. */
function pathUpTo(relay: SimRelay, path: readonly string[], from: string): string[] {
  const sender = path.lastIndexOf(relayNode(from));
  return [...path.slice(0, sender + 1), relayNode(relay.id)];
}
