import { asMicro, fromMicro, toDollars, toMicro, type Micro } from "@agent/budget";
import type { DelegationToken } from "@agent/receipts";
import {
  refuse,
  type Answer,
  type Operations,
  type Refusal,
  type SubmitTaskBody,
} from "@agent/wire";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { resolveActingAgent, type Caller } from "../../identity/caller.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import { serializeDecision, saveDecision } from "../../routing/decision.ts";
import { selectExecutors } from "../../routing/select-executors.ts";
import { newId } from "../../runtime.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { enqueueTaskAssigned } from "../../webhooks/enqueue-task-webhooks.ts";
import { acquireTaskSlot } from "./task-quota.ts";
import { checkDelegationToken } from "./delegated-submission.ts";
import { reserveDelegatedHold } from "./delegation-budget.ts";
import { buildTaskRow } from "../build-task-row.ts";
import { checkLifetime } from "../lifetime.ts";
import { insertTask } from "../store.ts";

export interface Submission {
  readonly targetId: string;
  readonly body: SubmitTaskBody;
  readonly caller: Caller;
  readonly saveResponse?: SaveResponse | undefined;
}

type SubmitTask = Operations["submitTask"];

/** The decisions on a submission, before anything is written. */
interface Plan extends Pick<Chosen, "attempts" | "choice" | "record"> {
  readonly taskId: string;
  readonly payerId: string | null;
  readonly lifetimeMs: number;
  readonly maxBudget: Micro | undefined;
  /** The submitted token and all its parents; empty without one. */
  readonly chain: readonly DelegationToken[];
}

type Chosen = Extract<Awaited<ReturnType<typeof selectExecutors>>, { ok: true }>;

/**
 * Submits a task: executors and price are decided first, then hold and row commit together, and
 * only then is the task routed. `route` is called with a task that is stored.
 */
export async function submitTask(
  services: ExecutorServices,
  route: (task: TaskRow) => void,
  { targetId, body, caller, saveResponse }: Submission,
): Promise<Answer<SubmitTask>> {
  const { runtime, config } = services;
  const lifetime = checkLifetime(body.ttl_ms, config.tasks);
  if (!lifetime.ok) return lifetime;
  const payerId = resolveActingAgent(caller, body.submitted_by) ?? null;
  const shownToken = body.delegation_token;
  const token =
    shownToken === undefined
      ? undefined
      : await checkDelegationToken(services, shownToken, { targetId, payerId });
  if (token?.ok === false) return token;
  const executors = await selectExecutors(services, { targetId, payerId, body });
  if (!executors.ok) return executors;
  const { attempts, choice, record } = executors;
  const [first] = attempts;
  const maxBudget = body.max_budget === undefined ? undefined : toMicro(body.max_budget);
  const { requireMaxBudget } = config.tasks;
  const refused = checkPrice(first.charge, { payerId, maxBudget, requireMaxBudget });
  if (refused !== undefined) return refused;

  const plan: Plan = {
    taskId: newId(runtime),
    payerId,
    lifetimeMs: lifetime.lifetimeMs,
    maxBudget,
    attempts,
    choice,
    record,
    chain: token?.chain ?? [],
  };
  const row = buildRow({ targetId, body }, plan, runtime.now());
  const stored = await storeTask(services, row, plan, saveResponse);
  if (payerId !== null && first.charge > 0) {
    services.log.debug("account.debit", {
      correlationId: row.task_id,
      agent_id: payerId,
      price: toDollars(first.charge),
      ok: stored.ok,
    });
  }
  if (!stored.ok) {
    return stored.code === "budget.insufficient" ? withEstimatedCost(stored, first.charge) : stored;
  }
  route(stored.task);
  return stored.answer;
}

/** Builds the task's row, before its money is held. */
function buildRow(
  { targetId, body }: Pick<Submission, "targetId" | "body">,
  { taskId, payerId, lifetimeMs, attempts, choice, chain }: Plan,
  now: number,
): TaskRow {
  const [shown] = chain;
  const row = buildTaskRow({
    task_id: taskId,
    agent_id: targetId,
    submitted_by: payerId,
    origin_peer: null,
    work: body,
    attempts,
    now,
    expires_at: now + lifetimeMs,
  });
  return {
    ...row,
    step_id: body.step_id ?? null,
    routing_choice: choice === null ? null : JSON.stringify(choice),
    delegation_token: shown === undefined ? null : JSON.stringify(shown),
  };
}

/** Holds the money, acquires a slot and stores the task, in one transaction. */
function storeTask(
  services: ExecutorServices,
  row: TaskRow,
  { taskId, payerId, maxBudget, chain, choice, record }: Plan,
  saveResponse: SaveResponse | undefined,
) {
  const { storage, runtime } = services;
  const { charge } = row;
  const decision = serializeDecision(record);
  return storage.transaction(async (tx) => {
    let locked = asMicro(0);
    if (payerId !== null && charge > 0) {
      const request = { payerId, taskId, charge: asMicro(charge), maxBudget };
      const hold = await reserveDelegatedHold(tx, runtime, request, chain);
      if (!hold.ok) return hold;
      locked = hold.locked;
    }
    const full = await acquireTaskSlot(tx, payerId);
    if (full !== undefined) return full;
    const task: TaskRow = { ...row, locked, allocation_id: locked > 0 ? newId(runtime) : null };
    await insertTask(tx, task);
    await enqueueTaskAssigned(tx, services, task);
    if (decision !== undefined) await saveDecision(tx, taskId, decision);
    const answer = {
      status: 201 as const,
      body: {
        task_id: taskId,
        status: "pending" as const,
        routing_choice: choice,
        expires_at: row.expires_at,
        estimated_cost: toDollars(charge),
        amount_locked: fromMicro(locked),
      },
    };
    await saveResponse?.(tx, answer);
    return { ok: true as const, task, answer };
  });
}

/** Adds the price to a refusal, so that the payer learns how much it needs. */
function withEstimatedCost<R extends Refusal>(refusal: R, charge: number): R {
  return { ...refusal, members: { estimated_cost: toDollars(charge) } };
}

/** Checks a price against the submission's limits, before any account is read. */
function checkPrice(
  charge: number,
  {
    payerId,
    maxBudget,
    requireMaxBudget,
  }: {
    readonly payerId: string | null;
    readonly maxBudget: Micro | undefined;
    readonly requireMaxBudget: boolean;
  },
): Refusal<"budget.no_payer" | "budget.max_exceeded" | "budget.max_required"> | undefined {
  if (maxBudget === undefined && charge > 0 && requireMaxBudget) {
    return refuse("budget.max_required");
  }
  if (maxBudget !== undefined && charge > maxBudget) {
    return withEstimatedCost(refuse("budget.max_exceeded"), charge);
  }
  return charge > 0 && payerId === null
    ? withEstimatedCost(refuse("budget.no_payer"), charge)
    : undefined;
}
