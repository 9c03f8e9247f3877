import { operations, type Received, type TaskEvent } from "@agent/wire";
import { fullJitter } from "./backoff.ts";
import { pathOf, urlOf } from "./call-request.ts";
import { environmentOf, type Environment } from "./environment.ts";
import { openEventStream, type StreamStep } from "./event-stream.ts";
import { readFrame } from "./task-frame.ts";
import { refusal, type CallRefusal } from "./refusal.ts";
import type { Bearer } from "./relay-client.ts";
import { passes, pause } from "./retry.ts";

const BACKOFF = { baseMs: 500, capMs: 30_000 } as const;

const LAST: ReadonlySet<string> = new Set<TaskEvent["type"]>([
  "completed",
  "failed",
  "denied",
  "cancelled",
  "expired",
]);

export interface FollowOptions extends Partial<Environment> {
  /** The relay's address, http or https, with or without a path of its own. */
  readonly baseUrl: string;
  /** The agent in the task's path: its target. */
  readonly agentId: string;
  readonly taskId: string;
  /** Gives a token of scope `task:read`: `() => client.bearerFor("task:read")`. */
  readonly bearer: () => Promise<Bearer>;
  /** The number of the last event that is known; without it, the task is told from its beginning. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export type FollowedEvent =
  | { readonly ok: true; readonly event: Received<typeof TaskEvent> }
  | CallRefusal;

/**
 * A task's events as they happen, each once and in order, to the one that ends the task. A connection that
 * is lost is made again after an exponential backoff with full jitter and goes on where it was cut off,
 * without end unless `signal` is aborted. A refusal is the last that is told: `network.aborted`,
 * `response.malformed` for what is no event of this task or leaves one out, `response.too_large`, or what
 * the relay refuses with for good, like `task.not_found` and `task.not_participant` (docs/decisions.md, 4).
 */
export async function* followTask(
  options: FollowOptions,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { agentId, taskId, bearer, signal } = options;
  const environment = environmentOf(options);
  const path = pathOf(operations.getTaskEvents.path, { params: { agentId, taskId } });
  if (path === null) {
    yield refusal("request.invalid", "A path parameter cannot stand in a path");
    return;
  }
  const url = urlOf(options.baseUrl, path);
  let seen = options.after ?? 0;
  let baseMs: number = BACKOFF.baseMs;
  const onRetry = (ms: number) => (baseMs = Math.min(Math.max(ms, BACKOFF.baseMs), BACKOFF.capMs));

  for (let failures = 0; ; failures += 1) {
    let lost: CallRefusal | undefined;
    for await (const step of connect()) {
      if (step.ok && step.message === undefined) return;
      const read = step.ok ? readFrame(step.message, { taskId, seen }) : step;
      if (!read.ok) {
        lost = read;
        break;
      }
      // What was told before the cut may come again.
      if (read.number <= seen) continue;
      seen = read.number;
      failures = 0;
      if (read.event === undefined) continue;
      yield { ok: true, event: read.event };
      if (LAST.has(read.event.type)) return;
    }
    if (signal?.aborted === true) lost = refusal("network.aborted", "The stream was aborted");
    if (lost !== undefined && !passes(lost, true)) {
      yield lost;
      return;
    }
    const waitMs = (lost?.retryAfterSeconds ?? 0) * 1_000;
    const jitterMs = fullJitter(failures, { ...BACKOFF, baseMs }, environment.randomBytes);
    await pause(waitMs + jitterMs, { environment, signal });
  }

  async function* connect(): AsyncGenerator<StreamStep, void, undefined> {
    const answer = await bearer();
    if (!answer.ok) {
      yield answer;
      return;
    }
    const stream = { url, token: answer.token, after: seen, environment, signal, onRetry };
    yield* openEventStream(operations.getTaskEvents, stream);
  }
}
