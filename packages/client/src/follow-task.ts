import { operations, type Received, type TaskEvent } from "@agent/wire";
import { fullJitter, RECONNECTION_BACKOFF } from "./calls/full-jitter.ts";
import { buildPath, buildUrl } from "./calls/call-request.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import { openEventStream, type StreamResult } from "./calls/event-stream.ts";
import { parseFrame } from "./realtime/task-frame.ts";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import type { Bearer } from "./relay-client.ts";
import { isRetryable, sleep } from "./calls/retry.ts";

const FINAL_EVENT_TYPES: ReadonlySet<string> = new Set<TaskEvent["type"]>([
  "completed",
  "failed",
  "denied",
  "cancelled",
  "expired",
]);

/** The task to follow, and the caller that follows it. */
export interface FollowTaskOptions extends Partial<Environment> {
  /** The relay's address, http or https, with or without a path of its own. */
  readonly baseUrl: string;
  /** The task's target agent. */
  readonly agentId: string;
  readonly taskId: string;
  /** Returns a token of scope `task:read`: `() => client.getBearer("task:read")`. */
  readonly bearer: () => Promise<Bearer>;
  /** The number of the last known event; by default all events are returned. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** An event of a task, or the refusal that ends the stream. */
export type FollowedEvent =
  | { readonly ok: true; readonly event: Received<typeof TaskEvent> }
  | CallRefusal;

/**
 * Yields a task's events as they happen, each once and in order, up to the one that ends the task. A lost
 * connection is reopened after an exponential backoff with full jitter and continues after the last event,
 * until `signal` is aborted. A refusal is the last value: `network.aborted`, `response.malformed` for a
 * message that is not an event of this task or skips one, `response.too_large`, or a permanent refusal by
 * the relay such as `task.not_found` or `task.not_participant` (docs/decisions.md, 4).
 */
export async function* followTask(
  options: FollowTaskOptions,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { agentId, taskId, bearer, signal } = options;
  const environment = createEnvironment(options);
  const path = buildPath(operations.getTaskEvents.path, { params: { agentId, taskId } });
  if (path === null) {
    yield refusal("request.invalid", "agentId and taskId must be valid path segments");
    return;
  }
  const url = buildUrl(options.baseUrl, path);
  let lastEventId = options.after ?? 0;
  let baseMs: number = RECONNECTION_BACKOFF.baseMs;
  const onRetry = (ms: number) =>
    (baseMs = Math.min(Math.max(ms, RECONNECTION_BACKOFF.baseMs), RECONNECTION_BACKOFF.capMs));

  for (let failures = 0; ; failures += 1) {
    let failure: CallRefusal | undefined;
    for await (const step of connect()) {
      if (step.ok && step.message === undefined) return;
      const read = step.ok ? parseFrame(step.message, { taskId, seen: lastEventId }) : step;
      if (!read.ok) {
        failure = read;
        break;
      }
      // After a reconnection, events that were already yielded may arrive again.
      if (read.number <= lastEventId) continue;
      lastEventId = read.number;
      failures = 0;
      if (read.event === undefined) continue;
      yield { ok: true, event: read.event };
      if (FINAL_EVENT_TYPES.has(read.event.type)) return;
    }
    if (signal?.aborted === true) failure = refusal("network.aborted", "The stream was aborted");
    if (failure !== undefined && !isRetryable(failure, true)) {
      yield failure;
      return;
    }
    const waitMs = (failure?.retryAfterSeconds ?? 0) * 1_000;
    const jitterMs = fullJitter(
      failures,
      { ...RECONNECTION_BACKOFF, baseMs },
      environment.randomBytes,
    );
    await sleep(waitMs + jitterMs, { environment, signal });
  }

  async function* connect(): AsyncGenerator<StreamResult, void, undefined> {
    const answer = await bearer();
    if (!answer.ok) {
      yield answer;
      return;
    }
    const stream = { url, token: answer.token, after: lastEventId, environment, signal, onRetry };
    yield* openEventStream(operations.getTaskEvents, stream);
  }
}
