import { createReceipt, type TaskInput, type TestAgent } from "@agent/testkit";
import type { ExecutionReceipt } from "@agent/receipts";
import { chooseAmount, chooseFrom } from "../history-relay.ts";
import { listTasks } from "../list-tasks.ts";
import { keep, type HostilePeer } from "./hostile-peer.ts";
import type { HostileStep } from "./hostile-step.ts";

const MINUTE_MS = 60_000;

/** Chooses the id of a task of the honest relay, of an order in either direction, or a new one. */
async function chooseTaskId({ honest, received, ordered, signer }: HostilePeer, pick: number) {
  const known = chooseFrom([...received, ...ordered], pick >> 3)?.["task_id"];
  const task = chooseFrom(await listTasks(honest, "1 = 1"), pick >> 3);
  const fresh = signer.createForward()["task_id"];
  const ids = [fresh, known, known, task?.task_id];
  return String(chooseFrom(ids, pick) ?? fresh);
}

/** Sends a task to an agent of the honest relay, mostly one that it accepts. */
const sendForward: HostileStep = async ({ relay, peers }, peer, [whom, much, kind, time]) => {
  const { signer, honest } = peer;
  const isPlain = kind % 3 > 0;
  const target = isPlain
    ? relay.chooseParty(whom)
    : chooseTarget(peers, relay.chooseParty(whom), kind);
  const now = honest.now();
  const ends = [
    ...[1, 4, 4.9, 5.1, 6, 15, 60].map((minutes) => now + minutes * MINUTE_MS),
    ...(isPlain ? [] : [undefined, now - 1, now + 1_000 * 24 * 60 * MINUTE_MS, 0]),
  ];
  const amount = isPlain ? (900_000 + (much % 1_000_000)) / 1e6 : chooseAmount(much, 90_000_000);
  const body = signer.createForward({
    target_agent: target.agentId,
    public_key: target.publicKey,
    budget: { amount: kind % 11 === 0 ? 0 : amount, currency: "USD" },
    expires_at: chooseFrom(ends, time),
    ...(!isPlain && {
      task_id: await chooseTaskId(peer, much),
      depth: kind % 13,
      routing_choice: { composite: 0.5, path: choosePath(peers, honest.t.relay.relayId, kind) },
      timestamp: chooseFrom([now, now, now + 4.9 * MINUTE_MS, now - 4.9 * MINUTE_MS, 0], kind),
    }),
  });
  keep(peer.ordered, body);
  await peer.send("/federation/v1/task/forward", body);
};

/** An agent of the honest relay under another key, or an agent of one of the peers. */
function chooseTarget(peers: readonly HostilePeer[], victim: TestAgent, kind: number) {
  const [own, other] = [peers[0]!.agents[0]!, peers.at(-1)!.agents[1]!];
  return chooseFrom([victim, { ...victim, publicKey: own.publicKey }, own, other], kind >> 2)!;
}

/** A path that this relay is at the beginning, in the middle or at the end of, or several times. */
function choosePath(peers: readonly HostilePeer[], honest: string, kind: number): string[] {
  const [first, last] = [peers[0]!.signer.relayId, peers.at(-1)!.signer.relayId];
  const paths = [
    [first, honest],
    [first, honest, last],
    [honest, first],
    [first, last, first, honest],
    [],
  ];
  const relays = chooseFrom(paths, kind >> 4)!.map((id) => `relay:${id}`);
  return kind % 5 === 0 ? relays : ["self", ...relays];
}

/** The task of an order, for a receipt of it. */
function toTask(order: Readonly<Record<string, unknown>>, submitted_at: number): TaskInput {
  const { task_id, task_payload } = order;
  const { prompt } = task_payload as { readonly prompt: string };
  return { task_id: String(task_id), prompt, submitted_at };
}

/** Chooses a true receipt of an order, or one that is not: of another agent, task, key or moment. */
async function chooseReceipt(
  peer: HostilePeer,
  order: Readonly<Record<string, unknown>>,
  [, which, kind]: readonly [number, number, number, number],
): Promise<ExecutionReceipt> {
  const { honest, agents, results } = peer;
  const target = agents.find(({ agentId }) => agentId === order["target_agent"]);
  const other = chooseFrom(agents, which)!;
  const agent = target ?? other;
  const task = toTask(order, honest.now());
  const status = chooseFrom(["completed", "completed", "completed", "failed"] as const, kind >> 4)!;
  switch (kind % 9) {
    case 0:
      return createReceipt(other, task, { status });
    case 1:
      return createReceipt({ ...agent, secretKey: other.secretKey }, task, { status });
    case 2:
      return createReceipt(
        agent,
        { ...task, task_id: await chooseTaskId(peer, which) },
        { status },
      );
    case 3:
      return { ...createReceipt(agent, task, { status }), status: "completed" };
    case 4:
      return chooseFrom(results, which)?.receipt ?? createReceipt(agent, task);
    case 5: {
      const [open] = await listTasks(honest, "status in ('pending', 'claimed')");
      const inner = open === undefined ? [] : [createReceipt(agent, open)];
      return createReceipt(agent, task, { status, delegation_receipts: inner });
    }
    default:
      return createReceipt(agent, task, { status });
  }
}

/** Returns a result of a task that it was sent, or of any other. */
const sendResult: HostileStep = async (_, peer, picks) => {
  const [which, , , kind] = picks;
  const orders = kind % 8 === 0 ? peer.ordered : peer.received;
  const order = chooseFrom(orders, which);
  if (order === undefined) return;
  const receipt = await chooseReceipt(peer, order, picks);
  const foreign = peer.signer.createResult({
    ...receipt,
    task_id: await chooseTaskId(peer, which),
  });
  const body = peer.signer.createResult(receipt, {
    ...(kind % 7 === 1 && { attestation: foreign["attestation"] }),
    ...(kind % 7 === 2 && { task_id: await chooseTaskId(peer, which) }),
    ...(kind % 7 === 3 && { origin_relay: peer.honest.t.relay.relayId }),
    ...(kind % 7 === 4 && { public_key: chooseFrom(peer.agents, which)!.publicKey }),
  });
  await peer.send("/federation/v1/task/result", body);
};

/** Cancels a task of either side, or states that it has ended. */
const sendCancel: HostileStep = async ({ relay }, peer, [which, kind]) => {
  const task_id = await chooseTaskId(peer, which | 1);
  const relays = [relay.t.relay.relayId, peer.signer.relayId, peer.agents[0]!.agentId];
  const body = { task_id, origin_relay: chooseFrom(relays, kind) };
  await peer.send("/federation/v1/task/cancel", body);
};

const sendQuery: HostileStep = async ({ peers }, peer, [which, kind]) => {
  await peer.send("/federation/v1/discover", {
    ...(kind % 2 === 0 && { capability: "summarise" }),
    ...(kind % 3 === 0 && { q: chooseFrom(peer.agents, which)!.agentId, limit: 0 }),
    hop_count: kind % 5,
    max_hops: chooseFrom([0, 3, Number.MAX_SAFE_INTEGER], kind),
    visited: kind % 4 === 0 ? [] : peers.map(({ signer }) => signer.relayId),
    query_id: peer.signer.createForward()["task_id"],
  });
};

export const taskMessages = {
  sendForward,
  sendResult,
  sendCancel,
  sendQuery,
} satisfies Record<string, HostileStep>;
