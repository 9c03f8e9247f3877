import { accountOf } from "@agent/budget";
import type { SimRelay } from "../relay/sim-relay.ts";

/** Every rule that does not hold over relays that had the time to finish, in words. */
export function brokenRules(relays: readonly SimRelay[], deposited: number): string[] {
  return [
    ...moneyIsConserved(relays, deposited),
    ...accountsMirrorEachOther(relays),
    ...holdsHaveEnded(relays),
    ...reservationsHaveEnded(relays),
    ...tasksArePaidOnce(relays),
    ...tasksHaveOneState(relays),
    ...peersAgree(relays),
  ];
}

function* moneyIsConserved(relays: readonly SimRelay[], deposited: number): Iterable<string> {
  let owned = 0;
  for (const relay of relays) {
    let sum = 0;
    for (const [account, amount] of relay.store.balances) {
      sum += amount;
      if (account.startsWith("agent:") && amount < 0) {
        yield `${relay.name}: ${account} is below zero`;
      }
      const isOwned = account.startsWith("agent:") || account === "relay:fees";
      if (isOwned) owned += amount;
    }
    if (sum !== 0) yield `${relay.name}: accounts sum to ${sum}`;
  }
  // Payments outside move what relays owe each other, never what agents have.
  if (owned !== deposited) yield `agents and fees have ${owned} of ${deposited} deposited`;
}

function* accountsMirrorEachOther(relays: readonly SimRelay[]): Iterable<string> {
  for (const a of relays) {
    for (const b of relays) {
      const ours = a.store.balanceOf(accountOf.peer(b.id));
      const theirs = b.store.balanceOf(accountOf.peer(a.id));
      if (a.id < b.id && ours + theirs !== 0) {
        yield `${a.name} and ${b.name} keep ${ours} and ${theirs}`;
      }
    }
  }
}

function* holdsHaveEnded(relays: readonly SimRelay[]): Iterable<string> {
  for (const relay of relays) {
    for (const [account, amount] of relay.store.balances) {
      if (account.startsWith("held:") && amount !== 0) {
        yield `${relay.name}: ${account} still has ${amount}`;
      }
    }
    for (const settlement of relay.store.outbox.values()) {
      const { taskId, resolution } = settlement;
      if (resolution !== "paid" && resolution !== "refunded") {
        yield `${relay.name}: settlement of ${taskId} is ${resolution ?? "pending"}`;
      }
    }
  }
}

/** What stays reserved for a peer keeps honest tasks from it. */
function* reservationsHaveEnded(relays: readonly SimRelay[]): Iterable<string> {
  for (const relay of relays) {
    for (const { relayId } of relay.store.peers.values()) {
      const { payable } = relay.lineWith(relayId);
      if (payable !== 0)
        yield `${relay.name} still reserves ${payable} for ${relay.nameOf(relayId)}`;
    }
  }
}

function* tasksArePaidOnce(relays: readonly SimRelay[]): Iterable<string> {
  const paid = new Map<string, number>();
  const charged = new Map<string, number>();
  const count = (map: Map<string, number>, taskId: string) =>
    map.set(taskId, (map.get(taskId) ?? 0) + 1);
  for (const relay of relays) {
    for (const { taskId, postings } of relay.store.movements) {
      if (taskId === null) continue;
      for (const { account, type, amount } of postings) {
        if (!account.startsWith("agent:")) continue;
        if (type === "settlement_credit" && amount > 0) count(paid, taskId);
        if (type === "settlement_debit") count(charged, taskId);
      }
    }
  }
  for (const taskId of new Set([...paid.keys(), ...charged.keys()])) {
    const [credits, debits] = [paid.get(taskId) ?? 0, charged.get(taskId) ?? 0];
    if (credits !== 1 || debits !== 1) {
      yield `${taskId} was paid ${credits} times and charged ${debits} times`;
    }
  }
}

/** Along the way that a task took, each relay says the same of it as the one before. */
function* tasksHaveOneState(relays: readonly SimRelay[]): Iterable<string> {
  const byId = new Map(relays.map((relay) => [relay.id, relay]));
  for (const relay of relays) {
    for (const own of relay.store.own.values()) {
      const sent = relay.store.outbound.get(own.taskId)?.task.state ?? "void";
      const isVoid = sent === "void" || sent === "refused";
      if (own.state !== (isVoid ? "expired" : sent)) {
        yield `${relay.name}: ${own.taskId} is ${own.state} and was sent as ${sent}`;
      }
    }
    for (const { task } of relay.store.inbound.values()) {
      const sender = byId.get(task.peerId)?.store.outbound.get(task.taskId)?.task;
      const isSenders = sender?.peerId === relay.id;
      const expected = isSenders && sender.state !== "refused" ? sender.state : "void";
      if (task.state !== expected) {
        yield `${relay.name}: ${task.taskId} is ${task.state}, for its sender ${expected}`;
      }
    }
    for (const { task } of relay.store.outbound.values()) {
      const before = relay.store.inbound.get(task.taskId)?.task.state;
      const after = task.state === "refused" ? "void" : task.state;
      if (before !== undefined && before !== after) {
        yield `${relay.name}: ${task.taskId} came as ${before} and went on as ${after}`;
      }
      const isFinal = ["completed", "failed", "denied"].includes(task.state);
      const receiver = byId.get(task.peerId)?.store.inbound.get(task.taskId)?.task;
      if (isFinal && receiver?.state !== task.state) {
        yield `${relay.name}: ${task.taskId} is ${task.state}, for its receiver ${receiver?.state}`;
      }
    }
  }
}

function* peersAgree(relays: readonly SimRelay[]): Iterable<string> {
  for (const a of relays) {
    for (const { relayId, life } of a.store.peers.values()) {
      const other = relays.find(({ id }) => id === relayId)?.peer(a.id)?.life.state;
      if (life.state !== "active" || other !== "active") {
        yield `${a.name} says ${life.state} of a peer that says ${other}`;
      }
    }
  }
}
