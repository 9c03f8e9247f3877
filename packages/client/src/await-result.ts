import { awaitTask } from "./await-task.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { RelayClient } from "./relay-client.ts";
import { checkResult, type CheckedResult } from "./results/check-result.ts";

/** The task to wait for, and how its receipt is verified. */
export interface AwaitResultOptions extends Partial<Omit<Environment, "fetch">> {
  /** The agent that the task was submitted to. */
  readonly agentId: string;
  readonly taskId: string;
  /** The submitted prompt; a receipt for any other prompt is refused. */
  readonly prompt: string;
  /** The maximum time until the verified receipt is returned, in ms; 0 polls once. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The executor's public keys, 64 hex digits each; by default they are read from the relay. */
  readonly executorKeys?: readonly string[];
}

/**
 * Waits for the receipt of a submitted task and verifies it, as `delegate` does after submitting. Refused
 * like operation `getTask`, with `delegation.timed_out`, with `task.cancelled`, or with the code of the
 * rule that the receipt breaks.
 */
export async function awaitResult(
  client: RelayClient,
  options: AwaitResultOptions,
): Promise<CheckedResult> {
  const environment = createEnvironment(options);
  const { agentId, taskId, prompt, executorKeys, signal } = options;
  const deadline = environment.now() + options.timeoutMs;
  const retryOptions = { deadline, environment, signal, isRelayKnown: true };
  const finished = await awaitTask(client, { agentId, taskId }, retryOptions);
  if (!finished.ok) return finished;
  return checkResult(client, finished, { taskId, prompt, executorKeys }, retryOptions);
}
