import { refusalText, type ClientMessage, type Code } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { acceptReceipt } from "../tasks/accept-receipt.ts";
import { claimTask, type Worker } from "../tasks/claim-task.ts";
import { endClaim } from "../tasks/release-claim.ts";
import { reportProgress } from "../tasks/report-progress.ts";
import { findTask } from "../tasks/store.ts";
import { workerOf, type Connection } from "./connections.ts";

type Message<T extends ClientMessage["type"]> = Extract<ClientMessage, { type: T }>;

/** The first of an agent's devices to claim a task has it; a second claim of the same device renews it. */
export async function claim(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "trustGraph">,
  device: Connection,
  { task_id }: Message<"claim">,
): Promise<void> {
  const claimed = await claimTask(services, workerAt(device), task_id);
  if (!claimed.ok) return fail(device, claimed.code, task_id);
  device.claimed.add(task_id);
  device.send({ type: "claimed", task_id, lease_until: claimed.lease_until });
}

type ReleaseServices = Pick<
  Services,
  "storage" | "runtime" | "router" | "waiters" | "connections" | "log"
>;

/** Gives a task back that this device claimed or that nobody has claimed. */
export async function refuse(
  services: ReleaseServices,
  device: Connection,
  { task_id, reason = "" }: Message<"refuse">,
): Promise<void> {
  const { agentId: agent_id } = device;
  services.log.info("task.refused", { correlationId: task_id, agent_id, reason });
  device.claimed.delete(task_id);
  await endClaim(services, { task_id, claimed_by: workerOf(device) });
  services.router.passOn(task_id, agent_id);
}

/** Gives a claim back, and so agrees to a cancel that the submitter asked for. */
export async function release(
  services: ReleaseServices,
  device: Connection,
  { task_id }: Message<"release">,
): Promise<void> {
  device.claimed.delete(task_id);
  const status = await endClaim(services, { task_id, claimed_by: workerOf(device) });
  if (status === undefined) return fail(device, "task.not_claimed", task_id);
  if (status === "pending") services.router.passOn(task_id, device.agentId);
}

/** A claim lives on; after a reconnection the open socket keeps it alive from here on. */
export async function progress(
  services: Pick<Services, "storage" | "runtime" | "waiters">,
  device: Connection,
  message: Message<"progress">,
): Promise<void> {
  const { task_id } = message;
  const renewed = await reportProgress(services, workerAt(device), message);
  if (!renewed.ok) return fail(device, "task.not_found", task_id);
  device.claimed.add(task_id);
}

const workerAt = (device: Connection): Worker => ({
  executor: device.agentId,
  claimed_by: workerOf(device),
});

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
