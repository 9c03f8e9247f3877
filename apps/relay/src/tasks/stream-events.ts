import { limits, refuse, type Answer, type Operations, type TaskEvent } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { StoredTaskRow } from "../storage/tables/tasks.ts";
import { eventsOf, lastEventOf } from "./events.ts";
import { findTask } from "./store.ts";
import { isGone, isParticipant } from "./view.ts";

type Parts = Pick<Services, "storage" | "freezer" | "waiters" | "runtime">;

interface Listening {
  readonly agentId: string;
  readonly taskId: string;
  /** The number of the last event that the caller has. */
  readonly after: number;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

export const streamHeaders = { "cache-control": "no-store", "x-accel-buffering": "no" };

/** How soon a client that was cut off comes back. */
const retryMs = 1_000;

/** A comment, so that nothing on the way takes the connection for dead. */
export const keepAlive = ": still here\n\n";

/** A task's events from a number on, as they happen; the stream ends with the task. */
export async function streamEvents(
  services: Parts,
  listening: Listening,
): Promise<Answer<Operations["getTaskEvents"]>> {
  const task = await find(services, listening);
  if (task === undefined) return refuse("task.not_found");
  if (!isParticipant(listening.caller, task)) return refuse("task.not_participant");
  if (task.finished_at !== null && listening.after >= lastEventOf(task)) {
    return { status: 204, body: undefined };
  }
  return {
    status: 200,
    mediaType: "text/event-stream",
    content: asText(followEvents(services, listening)),
    headers: streamHeaders,
  };
}

/**
 * A task's events from a number on, as they happen, and null now and then while nothing does. Whether
 * the caller may see them was asked before.
 */
export async function* followEvents(
  services: Parts,
  listening: Listening,
): AsyncGenerator<TaskEvent | null> {
  const { waiters, runtime } = services;
  const { taskId, caller, signal } = listening;
  const until = caller.kind === "agent" ? caller.expiresAt : Infinity;
  let seen = listening.after;
  while (!signal.aborted) {
    // Watching begins before the look, so that a change between the two is not missed.
    const patience = Math.min(limits.streamKeepAliveMs, until - runtime.now());
    const watch = waiters.watch(taskId, Math.max(0, patience), signal);
    try {
      const task = await find(services, listening);
      const all = task === undefined ? [expired(services, taskId, seen)] : eventsOf(task);
      const fresh = all.filter(({ event_id }) => event_id > seen);
      for (const event of fresh) {
        yield event;
        seen = event.event_id;
      }
      if (task === undefined || task.finished_at !== null) return;
      // Who listens longer than the token lasts comes back with a new one.
      if (waiters.released() || runtime.now() >= until) return;
      await watch.changed;
      if (fresh.length === 0 && !signal.aborted) yield null;
    } finally {
      watch.stop();
    }
  }
}

async function find(
  { storage, freezer }: Parts,
  { agentId, taskId }: Listening,
): Promise<StoredTaskRow | undefined> {
  const task = await findTask(storage.read, taskId);
  return task?.agent_id === agentId && !isGone(task, freezer.taskTime()) ? task : undefined;
}

/** Expiry removes the task, so it is told by those who listen. */
function expired({ runtime }: Parts, task_id: string, seen: number): TaskEvent {
  return { event_id: seen + 1, type: "expired", at: runtime.now(), task_id };
}

async function* asText(events: AsyncIterable<TaskEvent | null>): AsyncIterable<string> {
  yield `retry: ${retryMs}\n\n`;
  for await (const event of events) yield event === null ? keepAlive : textOf(event);
}

const textOf = (event: TaskEvent) =>
  `id: ${event.event_id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
