import { awaitResult } from "./await-result.ts";
import type { CheckedResult } from "./results/check-result.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { RecommendResult, Recommender } from "./recommender.ts";
import type { RelayClient } from "./relay-client.ts";
import { fetchListedPrice } from "./fetch-listed-price.ts";
import { retry, toPerCallOptions, type RetryOptions } from "./calls/retry.ts";

export interface DelegateOptions extends Partial<Omit<Environment, "fetch">> {
  /** The target agent; with `requiredCapabilities` the relay may assign another one. */
  readonly agentId: string;
  /** The agent's key, 64 hex digits; the task is assigned to the agent with this key or refused. */
  readonly publicKey?: string;
  /** At most 256 KiB of UTF-8. */
  readonly prompt: string;
  readonly requiredCapabilities?: readonly string[];
  /**
   * The maximum price and hold in US dollars, at most 6 decimals. The default is the agent's listed
   * price for the task, which is then read first.
   */
  readonly maxBudget?: number | undefined;
  /** A delegation token whose delegate is `agentId`; it is passed to the executor unchanged. */
  readonly delegationToken?: Readonly<Record<string, unknown>>;
  readonly excludeAgents?: readonly string[];
  /** The open task for whose work this one is submitted; the caller must be its executor. */
  readonly parentTaskId?: string;
  /** The paying agent; used with the master token only. */
  readonly submittedBy?: string;
  /** The time until the task expires, in ms, at least 60000; the default is the relay's. */
  readonly ttlMs?: number;
  /** The maximum time until the verified receipt is returned, in ms; an open task stays open afterwards. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * Allows a submission whose answer was lost to be sent again without a second task. A caller that
   * repeats a whole delegation under its key must also pass `maxBudget`, because the relay accepts only
   * an equal request and the listed price may have changed.
   */
  readonly idempotencyKey?: string;
  /** The executor's public keys, 64 hex digits each; by default they are read from the relay. */
  readonly executorKeys?: readonly string[];
  /** Called with the id of the task as soon as the relay has accepted it. */
  readonly onSubmitted?: (taskId: string) => void;
  /** Issues credentials about the executor under the delegator's own key. */
  readonly recommender?: Recommender;
}

/**
 * The result of a delegation. A refusal after the submission names its task, which can still be polled
 * or cancelled. A failed recommendation does not change the result.
 */
export type DelegateResult = CheckedResult & {
  readonly taskId?: string;
  readonly recommendation?: RecommendResult;
};

/**
 * Submits a task at the listed price or `maxBudget`, waits for its receipt and verifies it. The receipt's
 * `status` may also be `failed` or `denied`, which the receipt proves like `completed`. Refused like
 * operations `submitTask` and `getTask`, with `delegation.timed_out`, with `task.cancelled`, or with the
 * code of the rule that the receipt breaks.
 */
export async function delegate(
  client: RelayClient,
  options: DelegateOptions,
): Promise<DelegateResult> {
  const environment = createEnvironment(options);
  const { agentId, signal, idempotencyKey, recommender } = options;
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
  options.onSubmitted?.(taskId);
  const timeoutMs = retryOptions.deadline - environment.now();
  const checked = await awaitResult(client, { ...options, taskId, timeoutMs });
  if (!checked.ok || recommender === undefined) return { ...checked, taskId };
  const perCall = signal === undefined ? {} : { signal };
  return { ...checked, taskId, recommendation: await recommender.recommend(checked, perCall) };
}

/** Returns the price to submit as the maximum, so that a price raised in the meantime is not charged. */
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
  const { submittedBy, ttlMs, publicKey, parentTaskId } = options;
  return {
    prompt,
    ...(requiredCapabilities !== undefined && { required_capabilities: [...requiredCapabilities] }),
    ...(maxBudget !== undefined && { max_budget: maxBudget }),
    ...(ttlMs !== undefined && { ttl_ms: ttlMs }),
    ...(parentTaskId !== undefined && { parent_task_id: parentTaskId }),
    ...(delegationToken !== undefined && { delegation_token: { ...delegationToken } }),
    ...(excludeAgents !== undefined && { exclude_agents: [...excludeAgents] }),
    ...(submittedBy !== undefined && { submitted_by: submittedBy }),
    ...(publicKey !== undefined && { public_key: publicKey }),
  };
}
