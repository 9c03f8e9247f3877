import {
  limits,
  refuse,
  type Answer,
  type Operations,
  type Refusal,
  type TaskEvent,
} from "@agent/wire";
import { cutStalledStream } from "../../http/cut-stalled-stream.ts";
import { createEventStream, type ServerSentEvent } from "../../http/event-stream.ts";
import { getCallerExpiry, hasCallerEnded, type Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import { findWatchedTask, type WatchedTask } from "../events/event-store.ts";
import { listNextEvents, newestEventId } from "./task-events.ts";
import type { StreamSlot } from "./stream-slots.ts";
import { isExpired, isParticipant } from "../task.ts";

type StreamServices = Pick<
  Services,
  "storage" | "freezer" | "waiters" | "runtime" | "streamSlots" | "trustGraph"
>;

interface EventSubscription {
  readonly agentId: string;
  readonly taskId: string;
  /** The number of the last event that the caller has. */
  readonly after: number;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The delay before a disconnected client reconnects. */
const RETRY_MS = 1_000;

/**
 * Streams a task's events after a number as they happen; the stream ends with the task, with the
 * caller's part in it, with the caller's token, and when its reader takes nothing.
 */
export async function streamEvents(
  services: StreamServices,
  subscription: EventSubscription,
): Promise<Answer<Operations["getTaskEvents"]>> {
  const task = await findVisibleTask(services, subscription);
  if (task === undefined) return refuse("task.not_found");
  if (!isParticipant(subscription.caller, task, services.trustGraph))
    return refuse("task.not_participant");
  if (task.finished_at !== null && subscription.after >= newestEventId(task)) {
    return { status: 204, body: undefined };
  }
  const slot = acquireStreamSlot(services, subscription);
  if (!slot.ok) return slot;
  const { signal } = subscription;
  const events = cutStalledStream(followEvents(services, subscription), services.runtime, {
    signal,
    ended: slot.free,
  });
  return createEventStream(toServerSentEvents(events), { retryMs: RETRY_MS });
}

/** Acquires a slot for a stream of one task. Refused: `stream.too_many`. */
export function acquireStreamSlot(
  { streamSlots }: Pick<Services, "streamSlots">,
  { caller, taskId }: Pick<EventSubscription, "caller" | "taskId">,
): StreamSlot | Refusal<"stream.too_many"> {
  const slot = streamSlots.take(caller);
  if (!slot.ok) return slot;
  const refused = slot.assign(taskId);
  if (refused === undefined) return slot;
  slot.free();
  return refused;
}

/**
 * Yields a task's events after a number as they happen, and null as a keep-alive. The caller's right to
 * see them was checked before, and is checked again at each change: a task may go to another executor.
 */
export async function* followEvents(
  services: StreamServices,
  subscription: EventSubscription,
): AsyncGenerator<TaskEvent | null> {
  const { storage, waiters, runtime, trustGraph } = services;
  const { taskId, caller, signal } = subscription;
  const until = getCallerExpiry(caller);
  let lastSeenId = subscription.after;
  while (!signal.aborted && !hasCallerEnded(caller)) {
    // Watching begins before the read, so that a change between the two is not missed.
    const waitMs = Math.min(limits.streamKeepAliveMs, until - runtime.now());
    const watch = waiters.watch(taskId, Math.max(0, waitMs), signal);
    try {
      const task = await findVisibleTask(services, subscription);
      if (task !== undefined && !isParticipant(caller, task, trustGraph)) return;
      const fresh =
        task === undefined
          ? [expiredEvent(services, taskId, lastSeenId)]
          : await listNextEvents(storage.read, task, lastSeenId);
      for (const event of fresh) {
        if (hasCallerEnded(caller)) return;
        yield event;
        lastSeenId = event.event_id;
        // A client that listens beyond its token's expiry must reconnect with a new one.
        if (runtime.now() >= until) return;
      }
      if (task === undefined) return;
      if (lastSeenId < newestEventId(task)) continue;
      if (task.finished_at !== null || waiters.isReleased() || runtime.now() >= until) return;
      watch.saw(newestEventId(task));
      await watch.changed;
      if (fresh.length === 0 && !signal.aborted) yield null;
    } finally {
      watch.stop();
    }
  }
}

async function findVisibleTask(
  { storage, freezer }: StreamServices,
  { agentId, taskId }: EventSubscription,
): Promise<WatchedTask | undefined> {
  const task = await findWatchedTask(storage.read, taskId);
  return task?.agent_id === agentId && !isExpired(task, freezer.taskTime()) ? task : undefined;
}

/** Expiry deletes the task's row, so each listener builds this event itself. */
function expiredEvent({ runtime }: StreamServices, task_id: string, seen: number): TaskEvent {
  return { event_id: seen + 1, type: "expired", at: runtime.now(), task_id };
}

async function* toServerSentEvents(
  events: AsyncIterable<TaskEvent | null>,
): AsyncIterable<ServerSentEvent | null> {
  for await (const event of events) {
    yield event === null ? null : { id: event.event_id, event: event.type, data: event };
  }
}
