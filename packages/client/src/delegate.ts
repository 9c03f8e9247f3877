import { awaitResult } from "./await-result.ts";
import { addArbitrationFee } from "@agent/wire";
import { refusal } from "./calls/refusal.ts";
import type { CheckedResult, ProvenResult, UnprovenResult } from "./results/check-result.ts";
import {
  type Inspect,
  type InspectionResult,
  inspectResult,
  rejectUnproven,
} from "./results/inspect-result.ts";
import type { VerdictSigner } from "./results/send-verdict.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { RecommendResult, Recommender } from "./recommender.ts";
import type { RelayClient } from "./relay-client.ts";
import { fetchListedPrice } from "./fetch-listed-price.ts";
import { retry, retryRepeatable, toPerCallOptions, type RetryOptions } from "./calls/retry.ts";

/** The task to delegate, its maximum price, and the time to wait. */
export interface DelegateOptions extends Partial<Omit<Environment, "fetch">> {
  /** The target agent; with `requiredCapabilities` the relay may assign another one. */
  readonly agentId: string;
  /** The agent's key, 64 hex digits; the task is assigned to the agent with this key or refused. */
  readonly publicKey?: string;
  /** At most 256 KiB of UTF-8. */
  readonly prompt: string;
  readonly requiredCapabilities?: readonly string[];
  /**
   * The maximum price and hold in US dollars, with at most 6 decimals. By default the agent's listed price
   * is read first and used; null submits without a maximum.
   */
  readonly maxBudget?: number | null | undefined;
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
   * Allows a submission whose answer was lost to be sent again without creating a second task. To repeat a
   * whole delegation under the same key, also pass `maxBudget`, for example from `fetchListedPrice`: the relay
   * accepts only an identical request, and the listed price may have changed.
   */
  readonly idempotencyKey?: string;
  /** The executor's public keys, 64 hex digits each; by default they are read from the relay. */
  readonly executorKeys?: readonly string[];
  /** Called with the id of the task as soon as the relay has accepted it. */
  readonly onSubmitted?: (taskId: string) => void;
  /**
   * Issues credentials about the executor under the delegator's own key; for an inspected task, after the
   * inspection is closed.
   */
  readonly recommender?: Recommender;
  /**
   * Requests an inspection of the result before it is paid, which the executor must offer. Without
   * `maxBudget` the arbitration fee is added to the listed price.
   */
  readonly acceptance?: WantedInspection;
  /**
   * Decides whether the result is accepted. The result is paid without it, if it throws, or if the task is
   * still open when `timeoutMs` ends. It is not called for a completed result whose receipt does not prove
   * the work; such a result is rejected.
   */
  readonly inspect?: Inspect;
}

/** The inspection that a delegator requests. */
export interface WantedInspection {
  /** The delegator, which signs its verdict. */
  readonly signer: VerdictSigner;
  /** The time to inspect, in ms; the default is the longest that the executor offers. */
  readonly windowMs?: number;
  /** The agent that decides a dispute; the default is the operator of the relay. */
  readonly arbiterId?: string;
}

/**
 * The result of a delegation. A refusal after the submission names its task, which can still be polled
 * or cancelled. A failed recommendation does not change the result.
 */
export type DelegateResult = CheckedResult & {
  readonly taskId?: string;
  readonly recommendation?: RecommendResult;
  /**
   * The inspection after the answer of `inspect` or the rejection of an unproven result; absent if no
   * verdict was given and the executor is paid.
   */
  readonly inspection?: InspectionResult;
};

/**
 * Submits a task at the listed price or `maxBudget`, waits for its receipt and verifies it. The receipt's
 * `status` may also be `failed` or `denied`, which the receipt proves like `completed`. Refused like
 * operations `submitTask` and `getTask`, with `delegation.timed_out`, with `task.cancelled`, with
 * `acceptance.ignored` by a relay that does not support inspections, or with the code of the rule that the
 * receipt breaks.
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
  if (options.acceptance !== undefined && submitted.body.acceptance === undefined) {
    await client.cancelTask({ params: { agentId, taskId } }, toPerCallOptions(retryOptions));
    const message = "The relay knows no inspection before payment; the task was cancelled";
    return { ...refusal("acceptance.ignored", message), taskId };
  }
  const timeoutMs = retryOptions.deadline - environment.now();
  const checked = await awaitResult(client, { ...options, taskId, timeoutMs });
  if (!checked.ok) {
    const rejected = await rejectDelegated(
      client,
      { taskId, result: checked },
      options,
      retryOptions,
    );
    return { ...checked, ...rejected, taskId };
  }
  const inspected = await inspectDelegated(client, checked, options, retryOptions);
  const isPaid = options.acceptance === undefined || inspected.isClosed;
  const result = { ...checked, ...inspected.member, taskId };
  if (recommender === undefined || !isPaid) return result;
  const perCall = signal === undefined ? {} : { signal };
  return { ...result, recommendation: await recommender.recommend(checked, perCall) };
}

/** Inspects a completed result that was submitted with terms; any other result needs no inspection. */
async function inspectDelegated(
  client: RelayClient,
  checked: ProvenResult,
  { acceptance, inspect }: DelegateOptions,
  retryOptions: RetryOptions,
): Promise<{
  readonly member: Pick<DelegateResult, "inspection">;
  readonly isClosed: boolean;
}> {
  if (acceptance === undefined) return { member: {}, isClosed: false };
  if (checked.receipt.status !== "completed") return { member: {}, isClosed: true };
  if (inspect === undefined) return { member: {}, isClosed: false };
  const { signer } = acceptance;
  const inspection = await inspectResult(client, checked, { inspect, signer }, retryOptions);
  if (inspection === undefined) return { member: {}, isClosed: false };
  const isClosed = inspection.ok && inspection.inspection.state === "closed";
  return { member: { inspection }, isClosed };
}

/** Rejects a result that was submitted with terms but cannot be passed to `inspect`. */
async function rejectDelegated(
  client: RelayClient,
  unproven: { readonly taskId: string; readonly result: UnprovenResult },
  { agentId, acceptance, inspect }: DelegateOptions,
  retryOptions: RetryOptions,
): Promise<Pick<DelegateResult, "inspection">> {
  if (acceptance === undefined || inspect === undefined) return {};
  const { signer } = acceptance;
  const inspection = await rejectUnproven(client, { ...unproven, agentId, signer }, retryOptions);
  return inspection === undefined ? {} : { inspection };
}

/** Returns the price to submit as the maximum, so that an increase in the meantime is not charged. */
async function resolveBudget(
  client: RelayClient,
  { agentId, maxBudget, acceptance, requiredCapabilities: required = [] }: DelegateOptions,
  retryOptions: RetryOptions,
): ReturnType<typeof fetchListedPrice> {
  if (maxBudget !== undefined) return { ok: true, price: maxBudget ?? undefined };
  const listed = await fetchListedPrice(client, { agentId, required }, retryOptions);
  if (!listed.ok || listed.price === undefined || acceptance === undefined) return listed;
  const info = await retryRepeatable((perCall) => client.relayInfo({}, perCall), retryOptions);
  if (!info.ok) return info;
  const { disputes } = info.body;
  if (disputes === undefined) {
    return refusal("acceptance.ignored", "The relay knows no inspection before payment");
  }
  return { ok: true, price: addArbitrationFee(listed.price, disputes) };
}

function buildTaskBody(options: DelegateOptions, maxBudget: number | undefined) {
  const { prompt, requiredCapabilities, delegationToken, excludeAgents } = options;
  const { submittedBy, ttlMs, publicKey, parentTaskId, acceptance } = options;
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
    ...(acceptance !== undefined && { acceptance: buildAcceptance(acceptance) }),
  };
}

function buildAcceptance({ windowMs, arbiterId }: WantedInspection) {
  return {
    ...(windowMs !== undefined && { window_ms: windowMs }),
    ...(arbiterId !== undefined && { arbiter_id: arbiterId }),
  };
}
