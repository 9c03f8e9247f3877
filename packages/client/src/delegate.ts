import { awaitTask } from "./await-task.ts";
import { checkResult, type CheckedResult } from "./results/check-result.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { RecommendResult, Recommender } from "./recommender.ts";
import type { RelayClient } from "./relay-client.ts";
import { fetchListedPrice } from "./fetch-listed-price.ts";
import { retry, toPerCallOptions, type RetryOptions } from "./calls/retry.ts";

export interface DelegateOptions extends Partial<Omit<Environment, "fetch">> {
  /** The agent that is asked; with `requiredCapabilities` another one may do the work. */
  readonly agentId: string;
  /** The agent's key, 64 hex digits: the task goes to the agent with this key or to none. */
  readonly publicKey?: string;
  /** At most 256 KiB of UTF-8. */
  readonly prompt: string;
  readonly requiredCapabilities?: readonly string[];
  /**
   * US dollars, at most 6 decimals: a cap on price and hold. Without it the cap is the price that the
   * relay shows for the task at the agent, which is read first.
   */
  readonly maxBudget?: number | undefined;
  /** A delegation token whose delegate is `agentId`; it goes to the executor as it is. */
  readonly delegationToken?: Readonly<Record<string, unknown>>;
  readonly excludeAgents?: readonly string[];
  /** The paying agent; counts under the master token only. */
  readonly submittedBy?: string;
  /** How long the relay keeps the task open, in ms from 60000; without it the relay's own time. */
  readonly ttlMs?: number;
  /** Until the verified receipt is there; a task that is still open then stays open. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * With it a submission whose answer was lost is sent again, and still happens once. A caller that
   * repeats a whole delegation under its key must pass `maxBudget` too: the relay takes only the same
   * request again, and the price that is read for it may have changed.
   */
  readonly idempotencyKey?: string;
  /** The executor's public keys, 64 hex digits each, where they are known without the relay. */
  readonly executorKeys?: readonly string[];
  /** Tells the relay, under the delegator's own key, how the executor did. */
  readonly recommender?: Recommender;
}

/**
 * A refusal after the submission names its task, which can still be polled or cancelled. What became of
 * the recommendation leaves the result as it is.
 */
export type DelegateResult = CheckedResult & {
  readonly taskId?: string;
  readonly recommendation?: RecommendResult;
};

/**
 * Submits a task at no more than the price that was shown, waits for its receipt and verifies that
 * before it is returned; the receipt's `status`
 * may be `failed` or `denied`, which is as well proven as `completed`. Refused as operations `submitTask`
 * and `getTask` are, with `delegation.timed_out`, `task.cancelled`, or with the rule
 * that the receipt breaks.
 */
export async function delegate(
  client: RelayClient,
  options: DelegateOptions,
): Promise<DelegateResult> {
  const environment = createEnvironment(options);
  const { agentId, prompt, signal, idempotencyKey, executorKeys, recommender } = options;
  const retryOptions = { deadline: environment.now() + options.timeoutMs, environment, signal };
  const budget = await resolveBudget(client, options, retryOptions);
  if (!budget.ok) return budget;
  const submitted = await retry(
    () =>
      client.submitTask(
        { params: { agentId }, body: buildTaskBody(options, budget.price) },
        {
          ...toPerCallOptions(retryOptions),
          ...(idempotencyKey !== undefined && { idempotencyKey }),
        },
      ),
    idempotencyKey !== undefined,
    retryOptions,
  );
  if (!submitted.ok) return submitted;
  const taskId = submitted.body.task_id;
  const finished = await awaitTask(client, { agentId, taskId }, retryOptions);
  if (!finished.ok) return { ...finished, taskId };
  const expected = { taskId, prompt, executorKeys };
  const checked = await checkResult(client, finished, expected, retryOptions);
  if (!checked.ok || recommender === undefined) return { ...checked, taskId };
  const perCall = signal === undefined ? {} : { signal };
  return { ...checked, taskId, recommendation: await recommender.recommend(checked, perCall) };
}

/** A price that is raised between the look at it and the submission must not be charged. */
function resolveBudget(
  client: RelayClient,
  { agentId, maxBudget, requiredCapabilities: required = [] }: DelegateOptions,
  retryOptions: RetryOptions,
): ReturnType<typeof fetchListedPrice> {
  return maxBudget === undefined
    ? fetchListedPrice(client, { agentId, required }, retryOptions)
    : Promise.resolve({ ok: true, price: maxBudget });
}

function buildTaskBody(options: DelegateOptions, maxBudget: number | undefined) {
  const { prompt, requiredCapabilities, delegationToken, excludeAgents } = options;
  const { submittedBy, ttlMs, publicKey } = options;
  return {
    prompt,
    ...(requiredCapabilities !== undefined && { required_capabilities: [...requiredCapabilities] }),
    ...(maxBudget !== undefined && { max_budget: maxBudget }),
    ...(ttlMs !== undefined && { ttl_ms: ttlMs }),
    ...(delegationToken !== undefined && { delegation_token: { ...delegationToken } }),
    ...(excludeAgents !== undefined && { exclude_agents: [...excludeAgents] }),
    ...(submittedBy !== undefined && { submitted_by: submittedBy }),
    ...(publicKey !== undefined && { public_key: publicKey }),
  };
}
