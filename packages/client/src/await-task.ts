import { limits, type Operations, type Result, type TaskStatus } from "@agent/wire";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import type { RelayClient } from "./relay-client.ts";
import { sleep, retry, type RetryOptions } from "./calls/retry.ts";

/** A task with its receipt, as the relay returns it. */
export type TaskView = Result<Operations["getTask"]>;

/** The time in ms that the answer may take in addition to the long poll itself. */
const RESPONSE_TIMEOUT_MS = 10_000;
// Limits the polling rate at a relay that does not delay its answers.
const MIN_POLL_INTERVAL_MS = 1_000;

/** A task with an unknown status of a later version is polled until it has one of these. */
const FINAL_STATUSES: ReadonlySet<string> = new Set<TaskStatus>([
  "completed",
  "failed",
  "denied",
  "cancelled",
]);

/**
 * Polls a task until it is finished. Refused with `delegation.timed_out` at the deadline, with
 * `task.not_found` if the task expired, and with every permanent refusal by the relay.
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
    if (FINAL_STATUSES.has(status)) return { ok: true, ...answer.body };
    if (environment.now() >= deadline) {
      return refusal("delegation.timed_out", `Task is still ${status}`);
    }
    if (status === lastStatus && environment.now() - polledAt < MIN_POLL_INTERVAL_MS)
      await sleep(MIN_POLL_INTERVAL_MS, retryOptions);
    if (signal?.aborted === true) return refusal("network.aborted", "The call was aborted");
    lastStatus = status;
  }
}

/** Sends one long poll, which lasts for the remaining time, at most 60 s. */
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
