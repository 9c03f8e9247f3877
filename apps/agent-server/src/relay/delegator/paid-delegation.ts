import { delegate, type CallRefusal, type DelegateResult } from "@agent/client";
import { bytesToHex, canonicalize, sha256Hex } from "@agent/crypto";
import { limits } from "@agent/wire";
import { CallCancelled } from "../../execution/abort-reasons.ts";
import type { Runtime } from "../../runtime.ts";
import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
  type OrderContext,
  type WorkOrder,
} from "./delegator-answer.ts";
import { explainDeposit } from "./describe-account.ts";
import { describeOpenTask, describeResult } from "./describe-result.ts";
import { planOrder } from "./plan-order.ts";
import { reportProgress } from "./report-progress.ts";
import { createUndecidedOrders, type UndecidedOrder } from "./undecided-orders.ts";

/** The outcome of an order; undecided: a task may exist that this process did not see end. */
interface Outcome {
  readonly answer: DelegatorAnswer;
  readonly isUndecided: boolean;
}

export type DelegatePaid = (
  context: DelegatorContext,
  order: WorkOrder,
  call: OrderContext,
) => Promise<DelegatorAnswer>;

/**
 * Creates the action that submits, pays and verifies. The same request of a client has the same
 * idempotency key, and an equal order whose outcome its caller never got continues the first task;
 * neither pays twice.
 */
export function createPaidDelegation(runtime: Runtime): DelegatePaid {
  const { now } = runtime;
  const undecided = createUndecidedOrders({ now, maxAgeMs: limits.idempotencyKeyMs });
  /** Orders whose cancelled call is not settled yet; an equal order waits for that. */
  const cancelling = new Map<string, Promise<unknown>>();

  return async (context, order, call) => {
    const orderHash = sha256Hex(canonicalize(order));
    await cancelling.get(orderHash);
    const begun = undecided.take(orderHash) ?? (await beginOrder(context, order, call));
    if ("ok" in begun) return begun;
    const running = runOrder(context, { order, begun }, call).then((outcome) => {
      if (outcome.isUndecided) undecided.keep(orderHash, begun);
      return outcome.answer;
    });
    const noteCancel = () => {
      const settled = running.finally(() => cancelling.delete(orderHash));
      cancelling.set(orderHash, settled);
    };
    call.signal.addEventListener("abort", noteCancel, { once: true });
    return running.finally(() => call.signal.removeEventListener("abort", noteCancel));
  };

  async function beginOrder(
    context: DelegatorContext,
    order: WorkOrder,
    { signal, requestKey }: OrderContext,
  ): Promise<UndecidedOrder | Extract<DelegatorAnswer, { ok: false }>> {
    const planned = await planOrder(context, order, signal);
    if (!planned.ok) return planned;
    const source = requestKey ?? bytesToHex(runtime.randomBytes(16));
    const idempotencyKey = sha256Hex(canonicalize([source, { ...order }]));
    return { idempotencyKey, plan: planned.plan, since: now() };
  }
}

async function runOrder(
  context: DelegatorContext,
  { order, begun }: { readonly order: WorkOrder; readonly begun: UndecidedOrder },
  { signal, progress }: OrderContext,
): Promise<Outcome> {
  const { client, runtime, timeoutMs } = context;
  const { agentId } = begun.plan;
  if (signal.aborted) {
    const message = "The call was cancelled before its task was submitted";
    return decide({ ok: false, code: "task.cancelled", message });
  }
  const submitted = Promise.withResolvers<string | undefined>();
  // A cancel needs the id of the task, so the submission itself is never aborted.
  const waiting = new AbortController();
  const running = delegate(client, {
    ...runtime,
    ...begun.plan,
    prompt: order.prompt,
    ...(order.required_capabilities !== undefined && {
      requiredCapabilities: order.required_capabilities,
    }),
    maxBudget: order.max_budget,
    ...(order.inspect === true && {
      acceptance: { signer: { agentId: context.ownId, secretKey: context.secretKey } },
    }),
    idempotencyKey: begun.idempotencyKey,
    timeoutMs,
    signal: waiting.signal,
    onSubmitted(taskId) {
      submitted.resolve(taskId);
      if (progress === undefined || signal.aborted) return;
      reportProgress(context, { agentId, taskId }, { progress, signal: waiting.signal });
    },
  });
  let wasCancelled = false;
  const stop = async () => {
    const taskId = await submitted.promise;
    if (taskId !== undefined && signal.reason instanceof CallCancelled) {
      wasCancelled = await cancelOrdered(context, agentId, taskId);
    }
    waiting.abort();
  };
  let stopped: Promise<void> | undefined;
  const onAbort = () => void (stopped = stop());
  signal.addEventListener("abort", onAbort, { once: true });
  const delegated = await running;
  signal.removeEventListener("abort", onAbort);
  submitted.resolve(delegated.taskId);
  await stopped;
  waiting.abort();
  const outcome = await describeOutcome(context, delegated, order);
  return wasCancelled ? decide(outcome.answer) : outcome;
}

/** Asks the relay to cancel; false if the task goes on, with the reason in the log. */
async function cancelOrdered(
  { client, runtime: { log } }: DelegatorContext,
  agentId: string,
  taskId: string,
): Promise<boolean> {
  const cancelled = await client.cancelTask({ params: { agentId, taskId } });
  if (cancelled.ok && cancelled.body.status === "cancelled") {
    log("info", "delegation.cancelled", { task_id: taskId });
    return true;
  }
  const code = cancelled.ok ? "task.claimed" : cancelled.code;
  log("warn", "delegation.not_cancelled", { task_id: taskId, code });
  return false;
}

async function describeOutcome(
  context: DelegatorContext,
  delegated: DelegateResult,
  { max_budget: maxBudget, agent_id: wanted }: WorkOrder,
): Promise<Outcome> {
  if (delegated.ok) {
    const { receipt, task } = delegated;
    if (wanted !== undefined && receipt.agent_id !== wanted) {
      const refusal = "The receipt is of another agent than the named one";
      const { task_id: id } = task;
      return decide({ ok: false, code: "receipt.wrong_agent", message: refusal, taskId: id });
    }
    const { signal } = new AbortController();
    return decide(await describeResult(context, delegated, { maxBudget, signal }));
  }
  const { code, message, taskId } = delegated;
  if (code === "delegation.timed_out" && taskId !== undefined) {
    const note =
      "The task is still open. Ask task_status later; the same delegate_task call continues it.";
    return { answer: describeOpenTask(taskId, "open", note), isUndecided: true };
  }
  const refused = toDelegatorRefusal(delegated, taskId);
  if (isUndecided(delegated)) return { answer: refused, isUndecided: true };
  if (code !== "budget.insufficient") return decide(refused);
  const withAdvice = `${message}. ${explainDeposit(context.ownId, context.relayUrl)}`;
  return decide({ ok: false, code, message: withAdvice });
}

/** Returns whether the task may exist and still end after this refusal. */
function isUndecided({ code, status }: CallRefusal): boolean {
  const isWithoutAnswer = code.startsWith("network.") || code.startsWith("response.");
  return isWithoutAnswer || status >= 500 || status === 429;
}

function decide(answer: DelegatorAnswer): Outcome {
  return { answer, isUndecided: false };
}
