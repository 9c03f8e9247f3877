import { limits, refusalText, type ClientMessage, type Code } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { acceptReceipt } from "../tasks/accept-receipt.ts";
import { claimPending, noteProgress, releaseClaim, renewLease } from "../tasks/assignment-store.ts";
import { findTask } from "../tasks/store.ts";
import { workerOf, type Connection } from "./connections.ts";

type Message<T extends ClientMessage["type"]> = Extract<ClientMessage, { type: T }>;

/** The first of an agent's devices to claim a task has it, unless its submitter blocked the agent. */
export async function claim(
  {
    storage,
    runtime,
    waiters,
    trustGraph,
  }: Pick<Services, "storage" | "runtime" | "waiters" | "trustGraph">,
  device: Connection,
  { task_id }: Message<"claim">,
): Promise<void> {
  const now = runtime.now();
  const lease_until = now + limits.claimLeaseMs;
  const worker = { executor: device.agentId, claimed_by: workerOf(device) };
  const claimed = await storage.transaction(async (tx) => {
    const task = await findTask(tx, task_id);
    const isBlocked = trustGraph.isBlocked(task?.submitted_by ?? null, device.agentId);
    return !isBlocked && claimPending(tx, { task_id, ...worker, lease_until, now });
  });
  if (!claimed) return fail(device, "task.not_pending", task_id);
  device.claimed.add(task_id);
  waiters.changed(task_id);
  device.send({ type: "claimed", task_id, lease_until });
}

/** Gives a task back that this device claimed or that nobody has claimed. */
export async function refuse(
  {
    storage,
    runtime,
    router,
    waiters,
    log,
  }: Pick<Services, "storage" | "runtime" | "router" | "waiters" | "log">,
  device: Connection,
  { task_id, reason = "" }: Message<"refuse">,
): Promise<void> {
  const { agentId: agent_id } = device;
  device.claimed.delete(task_id);
  const claim = { task_id, claimed_by: workerOf(device), now: runtime.now() };
  if (await storage.transaction((tx) => releaseClaim(tx, claim))) waiters.changed(task_id);
  log.info("task.refused", { correlationId: task_id, agent_id, reason });
  router.passOn(task_id, agent_id);
}

/** A claim lives on; after a reconnection the open socket keeps it alive from here on. */
export async function progress(
  { storage, runtime, waiters }: Pick<Services, "storage" | "runtime" | "waiters">,
  device: Connection,
  { task_id, note }: Message<"progress">,
): Promise<void> {
  const now = runtime.now();
  const lease = { task_id, claimed_by: workerOf(device), lease_until: now + limits.claimLeaseMs };
  const renewed = await storage.transaction((tx) =>
    note === undefined ? renewLease(tx, lease) : noteProgress(tx, { ...lease, note, now }),
  );
  if (renewed && note !== undefined) waiters.changed(task_id);
  if (!renewed) return fail(device, "task.not_found", task_id);
  device.claimed.add(task_id);
}

/** A receipt over the socket goes the way of every other one. */
export async function result(
  services: Services,
  device: Connection,
  caller: Caller,
  { task_id, receipt }: Message<"result">,
): Promise<void> {
  const task = await findTask(services.storage.read, task_id);
  const answer = await acceptReceipt(services, {
    agentId: task?.agent_id ?? device.agentId,
    taskId: task_id,
    value: receipt,
    text: JSON.stringify(receipt),
    caller,
  });
  if ("ok" in answer) {
    const { code } = answer;
    const message = refusalText(answer);
    return device.send({ type: "result_refused", task_id, code, message });
  }
  device.claimed.delete(task_id);
  device.send({ type: "result_accepted", task_id, status: answer.body.status });
}

function fail(device: Connection, code: Code, task_id: string): void {
  device.send({ type: "error", code, message: refusalText({ code }), task_id });
}
