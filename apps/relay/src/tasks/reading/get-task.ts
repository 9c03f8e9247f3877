import {
  refuse,
  type Answer,
  type ListedStatus,
  type ListedTask,
  type Operations,
  type Task,
} from "@agent/wire";
import { findAttestation } from "../../federation/outbound/find-attestation.ts";
import { isFromPeer } from "../../federation/peer-ref.ts";
import { findPeerTask } from "../../federation/inbound/find-peer-task.ts";
import { createPageAnswer, textDescending, type PageQuery } from "../../http/paging/page.ts";
import type { Caller } from "../../identity/caller.ts";
import { mayReadAsArbiter } from "../../inspections/reading/find-readable.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { newestEventId } from "./task-events.ts";
import { findReceipt } from "../receipts/receipt-store.ts";
import { listExpiredNoShows } from "../assignment/no-show-store.ts";
import { findAddressedTask } from "../find-addressed-task.ts";
import { listTasksForAgent, listTasksBySubmitter, type TaskQuery } from "./list-store.ts";
import { isForwarded, isExpired, isOpen, isParticipant, isShutOut } from "../task.ts";
import { toTask } from "../task-view.ts";

interface GetTaskRequest {
  readonly agentId: string;
  readonly taskId: string;
  readonly waitSeconds: number;
  /** The number of the last event that the caller has; without it any change counts. */
  readonly after: number | undefined;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * Returns a task with its receipt; while the task is open, waits up to `waitSeconds` for a change.
 */
export async function getTask(
  services: Pick<Services, "storage" | "freezer" | "waiters" | "identity" | "trustGraph">,
  { agentId, taskId, waitSeconds, after, caller, signal }: GetTaskRequest,
): Promise<Answer<Operations["getTask"]>> {
  const { storage, waiters, trustGraph } = services;
  const now = services.freezer.taskTime;
  const find = () => findAddressedTask(storage.read, { agentId, taskId }, now());
  // Watching begins before the read, so that a change between the two is not missed.
  const watch = waitSeconds > 0 ? waiters.watch(taskId, waitSeconds * 1_000, signal) : undefined;
  let task = await find();
  const isNew = task !== undefined && after !== undefined && newestEventId(task) > after;
  const mayWait =
    task !== undefined && !isNew && isParticipant(caller, task, trustGraph) && isOpen(task, now());
  if (watch !== undefined) {
    if (mayWait && task !== undefined) watch.saw(newestEventId(task));
    else watch.stop();
    await watch.changed;
    if (mayWait) task = await find();
  }
  if (task === undefined) return refuse("task.not_found");
  if (
    !isParticipant(caller, task, trustGraph) &&
    !(await mayReadAsArbiter(services, task, caller))
  ) {
    return refuse("task.not_participant");
  }
  const archived = task.receipt_hash === null ? undefined : await findReceipt(storage.read, taskId);
  const receipt =
    archived === undefined ? null : (JSON.parse(archived.body) as Record<string, unknown>);
  const isShown = caller.kind === "master" && isFromPeer(task);
  const peer = isShown ? await findPeerTask(storage.read, taskId) : undefined;
  const body = { task: toTask(task), receipt, ...(peer !== undefined && { peer }) };
  if (archived === undefined || !isForwarded(task)) return { status: 200, body };
  return { status: 200, body: { ...body, ...(await findAttestation(storage.read, taskId)) } };
}

interface TaskListQuery extends PageQuery {
  readonly agentId: string;
  readonly submitted: boolean;
  readonly status: ListedStatus | undefined;
}

type ListServices = Pick<Services, "storage" | "freezer" | "trustGraph">;

/** Lists an agent's tasks, newest first. */
export async function listTasks(
  services: ListServices,
  { agentId, submitted, status, ...query }: TaskListQuery,
): Promise<Answer<Operations["listTasks"]>> {
  const listed = submitted ? listSubmittedTasks : listExecutorTasks;
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      listed(services, { agent_id: agentId, status: status ?? "", before, limit }),
    keyOf: ({ task_id }) => task_id,
    show: (rows) => ({ tasks: rows.flatMap(({ shown }) => shown ?? []) }),
  });
}

/** A row of a list; a task that is not shown still counts on its page. */
interface TaskListEntry {
  readonly task_id: string;
  readonly shown: ListedTask | undefined;
}

/** Leaves out tasks that the agent has not begun and whose submitter blocked it, and forwarded ones. */
async function listExecutorTasks(
  { storage, freezer, trustGraph }: ListServices,
  query: TaskQuery,
): Promise<TaskListEntry[]> {
  const now = freezer.taskTime();
  const isWithheld = (row: TaskRow) =>
    isForwarded(row) || isShutOut(row, query.agent_id, trustGraph);
  const rows = await listTasksForAgent(storage.read, query);
  return rows.map((row) => ({
    task_id: row.task_id,
    shown: isExpired(row, now) || isWithheld(row) ? undefined : toTask(row),
  }));
}

/** Includes tasks that expired while they were claimed, as long as a no-show of them is stored. */
async function listSubmittedTasks(
  { storage, freezer }: ListServices,
  query: TaskQuery,
): Promise<TaskListEntry[]> {
  const now = freezer.taskTime();
  const [rows, expired] = await Promise.all([
    query.status === "expired" ? [] : listTasksBySubmitter(storage.read, query),
    query.status === "" || query.status === "expired"
      ? listExpiredNoShows(storage.read, query)
      : [],
  ]);
  const listed: TaskListEntry[] = [
    ...rows.map((row) => ({
      task_id: row.task_id,
      shown: isExpired(row, now) ? undefined : toTask(row),
    })),
    ...expired.map(({ task_id, task }) => ({
      task_id,
      shown: { ...(JSON.parse(task) as Task), status: "expired" as const },
    })),
  ];
  return listed.toSorted((a, b) => (a.task_id < b.task_id ? 1 : -1)).slice(0, query.limit);
}
