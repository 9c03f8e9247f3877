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
import { formatCurrentTrace } from "../../observability/trace.ts";
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
import { checkLifetime } from "../lifetime.ts";
import { insertTask } from "../store.ts";

export interface Submission {
  readonly targetId: string;
  readonly body: SubmitTaskBody;
  readonly caller: Caller;
  readonly saveResponse?: SaveResponse | undefined;
}

type SubmitTask = Operations["submitTask"];

/** What was decided of a submission before anything is written. */
interface Plan extends Pick<Chosen, "attempts" | "choice" | "record"> {
  readonly taskId: string;
  readonly payerId: string | null;
  readonly lifetimeMs: number;
  readonly maxBudget: Micro | undefined;
  /** The token that was shown and all above it; empty without one. */
  readonly chain: readonly DelegationToken[];
}

type Chosen = Extract<Awaited<ReturnType<typeof selectExecutors>>, { ok: true }>;

/**
 * Takes a task: executors and price are decided first, then hold and row commit together, and only
 * then is anything routed. `route` is called with a task that is stored.
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
  const row = rowOf({ targetId, body }, plan, runtime.now());
  const stored = await store(services, row, plan, saveResponse);
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

/** The task as it is stored, before its money is held. */
function rowOf(
  { targetId, body }: Pick<Submission, "targetId" | "body">,
  { taskId, payerId, lifetimeMs, attempts, choice, chain }: Plan,
  now: number,
): TaskRow {
  const [first] = attempts;
  const [shown] = chain;
  return {
    task_id: taskId,
    agent_id: targetId,
    submitted_by: payerId,
    assigned_to: first.agent_id === targetId ? null : first.agent_id,
    status: "pending",
    prompt: body.prompt,
    required_capabilities: JSON.stringify(body.required_capabilities ?? []),
    submitted_at: now,
    expires_at: now + lifetimeMs,
    wall_clock_ms: body.wall_clock_ms ?? null,
    step_id: body.step_id ?? null,
    routing_choice: choice === null ? null : JSON.stringify(choice),
    attempts: JSON.stringify(attempts),
    attempt: 0,
    charge: first.charge,
    locked: 0,
    allocation_id: null,
    claimed_by: null,
    lease_until: null,
    blamed: 0,
    receipt_hash: null,
    finished_at: null,
    delegation_token: shown === undefined ? null : JSON.stringify(shown),
    trace: formatCurrentTrace(),
  };
}

/** Holds the money, takes a place and stores the task: all of it or nothing. */
function store(
  services: ExecutorServices,
  row: TaskRow,
  { taskId, payerId, maxBudget, chain, choice, record }: Plan,
  keep: SaveResponse | undefined,
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
    await keep?.(tx, answer);
    return { ok: true as const, task, answer };
  });
}

/** Whoever lacks money is told how much it takes. */
function withEstimatedCost<R extends Refusal>(refusal: R, charge: number): R {
  return { ...refusal, members: { estimated_cost: toDollars(charge) } };
}

/** What a price asks for before any account is looked at. */
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
