import { formatRefusal, type ClientMessage, type Code } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { acceptReceipt } from "../tasks/receipts/accept-receipt.ts";
import type { Lease } from "../tasks/assignment/claim-store.ts";
import { isHeldByOtherProcess, type ClaimSocket } from "../tasks/assignment/claim-rules.ts";
import { claimOnSocket, type Claimant } from "../tasks/assignment/claim-task.ts";
import { endClaim } from "../tasks/assignment/end-claim.ts";
import { reportProgress } from "../tasks/assignment/report-progress.ts";
import { findTask } from "../tasks/store.ts";
import { claimantIdOf, type Connection } from "./connections.ts";

type Message<T extends ClientMessage["type"]> = Extract<ClientMessage, { type: T }>;

/** A message about a task. */
export type WorkMessage = Extract<ClientMessage, { task_id: string }>;

/** Applies a device's message about a task, and answers on its socket. */
export function handleWorkMessage(
  services: Services,
  device: Connection,
  { caller, message }: { readonly caller: Caller; readonly message: WorkMessage },
): Promise<void> {
  switch (message.type) {
    case "claim":
      return handleClaim(services, device, message);
    case "refuse":
    case "release":
      return handleReturn(services, device, message);
    case "progress":
      return handleProgress(services, device, message);
    case "result":
      return handleResult(services, device, caller, message);
  }
}

/** Gives a task to the first device that claims it; another claim of the same device renews it. */
async function handleClaim(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "connections">,
  device: Connection,
  { task_id }: Message<"claim">,
): Promise<void> {
  const socket = toClaimSocket(services, device, task_id);
  const claimed = await claimOnSocket(services, toClaimant(device), { task_id, socket });
  if (!claimed.ok) return sendError(device, claimed.code, task_id);
  device.send({ type: "claimed", task_id, lease_until: claimed.lease_until });
  addClaim(device, claimed);
}

/** A device that was offline when the cancel was requested learns of it now. */
function addClaim(device: Connection, { task_id, cancel_requested_at }: Lease): void {
  const isNew = !device.claimed.has(task_id);
  device.claimed.add(task_id);
  if (isNew && cancel_requested_at !== null) device.send({ type: "cancel_requested", task_id });
}

type ReleaseServices = Pick<
  Services,
  "storage" | "runtime" | "router" | "waiters" | "connections" | "log"
>;

/**
 * Describes the socket for the rule on processes that share a key: one of them must neither get nor give up a task
 * on which another works.
 */
function toClaimSocket(
  { connections }: Pick<Services, "connections">,
  { agentId, openedAt, claimed }: Connection,
  task_id: string,
): ClaimSocket {
  const isOnly = connections.countSockets(agentId) <= 1;
  return { openedAt, isHolder: claimed.has(task_id), isOnly };
}

async function isWorkOfOtherProcess(
  services: Pick<Services, "storage" | "connections">,
  device: Connection,
  task_id: string,
): Promise<boolean> {
  const socket = toClaimSocket(services, device, task_id);
  if (socket.isHolder || socket.isOnly) return false;
  const task = await findTask(services.storage.read, task_id);
  const isOwn = task?.claimed_by === claimantIdOf(device);
  return isOwn && isHeldByOtherProcess(task.claimed_at, socket);
}

/**
 * Ends the claim of a device that gives up a task. It may refuse a task without a claim; a release also agrees to a
 * cancel that the submitter requested.
 */
async function handleReturn(
  services: ReleaseServices,
  device: Connection,
  message: Message<"refuse" | "release">,
): Promise<void> {
  const { task_id } = message;
  const { agentId: agent_id } = device;
  if (await isWorkOfOtherProcess(services, device, task_id))
    return sendError(device, "task.other_process", task_id);
  device.claimed.delete(task_id);
  const status = await endClaim(services, { task_id, claimed_by: claimantIdOf(device) });
  if (message.type === "refuse") {
    const { reason = "" } = message;
    services.router.reassignToNext(task_id, agent_id);
    services.log.info("task.refused", { correlationId: task_id, agent_id, reason });
    return;
  }
  if (status === undefined) return sendError(device, "task.not_claimed", task_id);
  if (status === "pending") services.router.reassignToNext(task_id, agent_id);
}

/** Renews a claim; after a reconnection the open socket keeps it alive from here on. */
async function handleProgress(
  services: Pick<Services, "storage" | "runtime" | "waiters">,
  device: Connection,
  message: Message<"progress">,
): Promise<void> {
  const { task_id } = message;
  const renewed = await reportProgress(services, toClaimant(device), message);
  if (!renewed.ok) return sendError(device, "task.not_found", task_id);
  addClaim(device, renewed);
}

const toClaimant = (device: Connection): Claimant => ({
  executor: device.agentId,
  claimed_by: claimantIdOf(device),
});

/** Accepts a receipt over the socket exactly as over HTTP. */
async function handleResult(
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
  if (answer.ok === false) {
    const { code } = answer;
    const message = formatRefusal(answer);
    return device.send({ type: "result_refused", task_id, code, message });
  }
  device.claimed.delete(task_id);
  device.send({ type: "result_accepted", task_id, status: answer.body.status });
}

function sendError(device: Connection, code: Code, task_id: string): void {
  device.send({ type: "error", code, message: formatRefusal({ code }), task_id });
}
