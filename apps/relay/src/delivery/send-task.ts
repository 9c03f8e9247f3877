import type { Task } from "@agent/wire";
import type { Connection } from "../realtime/connections.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { executorOf, isForwarded, parseRequiredCapabilities } from "../tasks/task.ts";
import { toTask } from "../tasks/task-view.ts";
import { findPending, isBlocked } from "./pending-task.ts";

type SendServices = Pick<Services, "storage" | "runtime" | "connections" | "trustGraph">;

type IsChosen = (device: Connection, view: Task) => boolean;

/** A job or another process may have had it sent since it was assigned. */
const isUnsent: IsChosen = (device, { task_id, event_id = 0 }) =>
  device.sentTasks.get(task_id) !== event_id;

/** Sends a pending task to the devices here that were not sent it yet; true if one may do it. */
export function sendHere(services: SendServices, taskId: string): Promise<boolean> {
  return sendToChosen(services, taskId, isUnsent);
}

/** Sends a pending task to the devices here that were never sent it, not even before a release. */
export async function sendToNewcomers(services: SendServices, taskId: string): Promise<void> {
  await sendToChosen(services, taskId, (device) => device.sentTasks.get(taskId) === undefined);
}

/** Sends a pending task to chosen devices of this process; true if one, chosen or not, may do it. */
async function sendToChosen(
  services: SendServices,
  taskId: string,
  isChosen: IsChosen,
): Promise<boolean> {
  const task = await findPending(services, taskId);
  if (task === undefined || isForwarded(task) || isBlocked(services, task)) return false;
  const devices = services.connections.forAgent(executorOf(task));
  return sendTo(services, devices, { task, isChosen });
}

/** Sends a task once to the connected devices of its executor that can do it; the first claim wins. */
export function sendToDevices(
  services: Pick<Services, "connections">,
  devices: readonly Connection[],
  task: TaskRow,
): boolean {
  return sendTo(services, devices, { task, isChosen: isUnsent });
}

function sendTo(
  { connections }: Pick<Services, "connections">,
  devices: readonly Connection[],
  { task, isChosen }: { task: TaskRow; isChosen: IsChosen },
): boolean {
  if (devices.length === 0) return false;
  const view = toTask(task);
  const able = devices.filter(
    (device) =>
      device.agentId === executorOf(task) &&
      connections.canServe(device, view.required_capabilities),
  );
  for (const device of able) if (isChosen(device, view)) device.sendTask(view);
  return able.length > 0;
}

/**
 * Notifies the processes that have devices of the executor, which send it the task. If they end before they do,
 * `rerouteWaiting` routes it again.
 */
export async function sendElsewhere(
  { storage, remoteDevices }: Pick<Services, "storage" | "remoteDevices">,
  task: TaskRow,
): Promise<boolean> {
  if (!remoteDevices.canServe(executorOf(task), parseRequiredCapabilities(task))) return false;
  await storage.transaction(async (tx) => tx.noteChange("offer", task.task_id));
  return true;
}
