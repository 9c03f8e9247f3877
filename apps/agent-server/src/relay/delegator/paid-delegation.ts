import { delegate, type CallRefusal, type DelegateResult } from "@agent/client";
import { bytesToHex, canonicalize, sha256Hex } from "@agent/crypto";
import { limits } from "@agent/wire";
import { CallCancelled } from "../../execution/abort-reasons.ts";
import type { Runtime } from "../../runtime.ts";
import type {
  DelegatorAnswer,
  DelegatorContext,
  OrderContext,
  WorkOrder,
} from "./delegator-answer.ts";
import { explainDeposit } from "./describe-account.ts";
import { describeOpenTask, describeResult, describeUnproven } from "./describe-result.ts";
import type { BegunOrder, OrderStore } from "./orders/order-store.ts";
import { planOrder } from "./orders/plan-order.ts";
import { reportProgress } from "./report-progress.ts";
import { selectRepeatableOrders } from "./orders/select-repeatable-orders.ts";
import { createUndecidedOrders } from "./orders/undecided-orders.ts";

/**
 * The outcome of an order. `undecided`: there may be a task whose end this process did not see. `answered`:
 * the task has ended, or this very order was refused. `void`: there is no task to pay.
 */
interface OrderOutcome {
  readonly answer: DelegatorAnswer;
  readonly end: "undecided" | "answered" | "void";
}

export type DelegatePaid = (
  context: DelegatorContext,
  order: WorkOrder,
  call: OrderContext,
) => Promise<DelegatorAnswer>;

/**
 * Creates the action that submits, pays and verifies. The same request of a client has the same
 * idempotency key, and an equal order whose outcome its caller never got continues the first task, also
 * after a crash: the key is on disk before the relay gets it. Neither pays twice.
 */
export async function createPaidDelegation(
  runtime: Runtime,
  store: OrderStore,
): Promise<DelegatePaid> {
  const { now } = runtime;
  const maxAgeMs = limits.idempotencyKeyMs;
  const undecided = createUndecidedOrders({ now, maxAgeMs });
  const stored = selectRepeatableOrders(await store.load(), { now: now(), maxAgeMs });
  for (const order of stored.repeatable) undecided.keep(order);
  await Promise.all(stored.over.map((order) => store.delete(order)));
  /** Orders on disk whose caller was answered a short time ago. */
  let recent: readonly BegunOrder[] = [];
  /** Orders whose cancelled call is not settled yet; an equal order waits for that. */
  const cancelling = new Map<string, Promise<unknown>>();

  return async (context, order, call) => {
    const orderHash = sha256Hex(canonicalize(order));
    await cancelling.get(orderHash);
    const repeated = undecided.take(orderHash);
    const started =
      repeated === undefined
        ? await beginOrder(context, { ...order, orderHash }, call)
        : { ok: true as const, begun: repeated };
    if (!started.ok) return started;
    const { begun } = started;
    const running = runOrder(context, { order, begun }, call).then(async (outcome) => {
      await endOrder(begun, outcome);
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
    { orderHash, ...order }: WorkOrder & { readonly orderHash: string },
    { signal, requestKey }: OrderContext,
  ): Promise<
    { readonly ok: true; readonly begun: BegunOrder } | Extract<DelegatorAnswer, { ok: false }>
  > {
    const planned = await planOrder(context, order, signal);
    if (!planned.ok) return planned;
    const source = requestKey ?? bytesToHex(runtime.randomBytes(16));
    const idempotencyKey = sha256Hex(canonicalize([source, { ...order }]));
    const begun = { orderHash, idempotencyKey, plan: planned.plan, since: now() };
    if (await store.save(begun)) return { ok: true, begun };
    const message = "The order cannot be stored in the data folder, so it was not submitted";
    return { ok: false, code: "delegation.not_stored", message };
  }

  async function endOrder(begun: BegunOrder, { end }: OrderOutcome): Promise<void> {
    if (end === "undecided") return undecided.keep(begun);
    if (end === "void") return store.delete(begun);
    // The answer can still be lost with the process, so the order stays on disk for a while.
    const answered = { ...begun, answeredAt: now() };
    await store.save(answered);
    const { repeatable, over } = selectRepeatableOrders([...recent, answered], {
      now: now(),
      maxAgeMs,
    });
    recent = repeatable;
    await Promise.all(over.map((each) => store.delete(each)));
  }
}

async function runOrder(
  context: DelegatorContext,
  { order, begun }: { readonly order: WorkOrder; readonly begun: BegunOrder },
  { signal, progress }: OrderContext,
): Promise<OrderOutcome> {
  const { client, runtime, timeoutMs } = context;
  const { publicKey, ...plan } = begun.plan;
  const { agentId } = plan;
  if (signal.aborted) {
    const message = "The call was cancelled before its task was submitted";
    return { answer: { ok: false, code: "task.cancelled", message }, end: "void" };
  }
  const submitted = Promise.withResolvers<string | undefined>();
  // A cancel needs the id of the task, so the submission itself is never aborted.
  const waiting = new AbortController();
  const running = delegate(client, {
    ...runtime,
    ...plan,
    ...(publicKey !== undefined && { publicKey }),
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
  return wasCancelled ? { ...outcome, end: "void" } : outcome;
}

/** Asks the relay to cancel; returns false if the task continues, and logs the reason. */
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
  { max_budget: maxBudget, agent_id: wanted, inspect: isInspected = false }: WorkOrder,
): Promise<OrderOutcome> {
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
    return { answer: describeOpenTask(taskId, "open", note), end: "undecided" };
  }
  const refused = describeUnproven(delegated, { taskId, isInspected });
  if (isUndecided(delegated)) return { answer: refused, end: "undecided" };
  if (code !== "budget.insufficient") return decide(refused);
  const withAdvice = `${message}. ${explainDeposit(context.ownId, context.relayUrl)}`;
  return decide({ ok: false, code, message: withAdvice });
}

/** Returns whether the task may exist and still end after this refusal. */
function isUndecided({ code, status }: CallRefusal): boolean {
  const isWithoutAnswer = code.startsWith("network.") || code.startsWith("response.");
  return isWithoutAnswer || status >= 500 || status === 429;
}

/** A refusal that names no task has created none. */
function decide(answer: DelegatorAnswer): OrderOutcome {
  return { answer, end: answer.ok || answer.taskId !== undefined ? "answered" : "void" };
}
