import { limits, type Operations, type Result, type TaskStatus } from "@agent/wire";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import type { RelayClient } from "./relay-client.ts";
import { sleep, retry, type RetryOptions } from "./calls/retry.ts";

/** A task with its receipt, as the relay shows it. */
export type TaskView = Result<Operations["getTask"]>;

/** How much longer than the poll itself its answer may take, in ms. */
const RESPONSE_TIMEOUT_MS = 10_000;
// A relay that does not hold the answer back would otherwise be asked without end.
const MIN_POLL_INTERVAL_MS = 1_000;

/** A status of a later version is none of these, so its task is polled until it has one. */
const finalStatuses: ReadonlySet<string> = new Set<TaskStatus>([
  "completed",
  "failed",
  "denied",
  "cancelled",
]);

/**
 * Polls a task until it is finished. Refused with `delegation.timed_out` at the deadline, `task.not_found`
 * when it expired, and what a poll is refused with for good.
 */
export async function awaitTask(
  client: RelayClient,
  task: { readonly agentId: string; readonly taskId: string },
  retryOptions: RetryOptions,
): Promise<({ readonly ok: true } & TaskView) | CallRefusal> {
  const { deadline, environment, signal } = retryOptions;
  let lastStatus = "pending";
  for (;;) {
    const polledAt = environment.now();
    const answer = await retry(() => poll(client, task, retryOptions), true, retryOptions);
    if (!answer.ok) return answer;
    const { status } = answer.body.task;
    if (finalStatuses.has(status)) return { ok: true, ...answer.body };
    if (environment.now() >= deadline) {
      return refusal("delegation.timed_out", `Task is still ${status}`);
    }
    if (status === lastStatus && environment.now() - polledAt < MIN_POLL_INTERVAL_MS)
      await sleep(MIN_POLL_INTERVAL_MS, retryOptions);
    if (signal?.aborted === true) return refusal("network.aborted", "The call was aborted");
    lastStatus = status;
  }
}

/** One long poll, which the relay holds for as long as there is time left, at most 60 s. */
function poll(
  client: RelayClient,
  params: { readonly agentId: string; readonly taskId: string },
  { deadline, environment, signal }: RetryOptions,
) {
  const leftMs = Math.max(0, deadline - environment.now());
  const wait = Math.min(limits.pollWaitSeconds, Math.floor(leftMs / 1_000));
  return client.getTask(
    { params, query: { wait } },
    { timeoutMs: wait * 1_000 + RESPONSE_TIMEOUT_MS, ...(signal !== undefined && { signal }) },
  );
}
