import { isUuid } from "@agent/crypto";
import { fromMicro, toDollars, toMicro, type Micro, ZERO } from "@agent/budget";
import type { DelegationToken } from "@agent/receipts";
import {
  refuse,
  type Answer,
  type Operations,
  type Refusal,
  type SubmitTaskBody,
} from "@agent/wire";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { listWithdrawnOffers } from "../../inspections/acceptance/accept-terms.ts";
import { refuseField } from "../../http/server/validate.ts";
import { resolveActingAgent, type Caller } from "../../identity/caller.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import { saveDecision } from "../../routing/decision.ts";
import { listRepriced } from "../../routing/price.ts";
import { selectExecutors } from "../../routing/select-executors.ts";
import { newId } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { enqueueTaskAssigned } from "../../webhooks/enqueue-task-webhooks.ts";
import {
  acceptWanted,
  filterExecutors,
  getLeastHold,
  readWanted,
  toArbitration,
  type UnfitExecutors,
  type WantedInspection,
} from "./wanted-inspection.ts";
import { acquireTaskSlot } from "./task-quota.ts";
import { checkDelegationToken } from "./delegated-submission.ts";
import { findLineage, type Lineage } from "./find-lineage.ts";
import { reserveDelegatedHold } from "./delegation-budget.ts";
import { buildTaskRow } from "../build-task-row.ts";
import { checkLifetime } from "../lifetime.ts";
import { insertParent } from "./parent-store.ts";
import { insertTask } from "../store.ts";
import type { TaskAcceptance } from "../task-view.ts";

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
  readonly lineage: Lineage;
  /** The submitted token and all its parents; empty without one. */
  readonly chain: readonly DelegationToken[];
  /** The terms of an inspection before payment; undefined without one. */
  readonly acceptance: TaskAcceptance | undefined;
}

type Chosen = Extract<Awaited<ReturnType<typeof selectExecutors>>, { ok: true }>;

/** From this ranking on, the agents whose price changed while they were ranked are left out. */
const FIRST_STRICT_RANKING = 3;
const MAX_RANKINGS = 6;

/**
 * Submits a task: executors and price are decided first, then hold and row commit together, and
 * only then is the task routed. `route` is called with a task that is stored.
 */
export async function submitTask(
  services: ExecutorServices,
  route: (task: TaskRow) => void,
  submission: Submission,
): Promise<Answer<SubmitTask>> {
  const { config, candidates } = services;
  const { targetId, body, caller } = submission;
  if (!isUuid(targetId)) return refuseField("agentId", "must be a UUID");
  const lifetime = checkLifetime(body.ttl_ms, config.tasks);
  if (!lifetime.ok) return lifetime;
  const payerId = resolveActingAgent(caller, body.submitted_by) ?? null;
  const parent = { parentId: body.parent_task_id, caller, actingId: payerId };
  const lineage = await findLineage(services, parent);
  if (!lineage.ok) return lineage;
  const shownToken = body.delegation_token;
  const wanted = await readWanted(services, { targetId, body, submitterId: payerId });
  if (wanted?.ok === false) return wanted;
  const token =
    shownToken === undefined
      ? undefined
      : await checkDelegationToken(services, shownToken, { targetId, payerId });
  if (token?.ok === false) return token;
  const { lifetimeMs } = lifetime;
  const chain = token?.chain ?? [];
  const repriced: string[] = [];
  const withdrawn: string[] = [];
  for (let ranking = 1; ranking <= MAX_RANKINGS; ranking += 1) {
    const unstable = ranking < FIRST_STRICT_RANKING ? [] : repriced;
    const stored = await selectAndStore(services, submission, {
      payerId,
      lifetimeMs,
      lineage,
      chain,
      wanted,
      leftOut: [...lineage.ancestors, ...unstable],
      withdrawn,
    });
    if (stored.ok) {
      route(stored.task);
      return stored.answer;
    }
    if (stored.code === "offer.withdrawn") {
      if (!stored.isRanked) return refuse("acceptance.not_offered");
      withdrawn.push(...stored.withdrawn);
      continue;
    }
    if (stored.code !== "price.changed") return stored;
    candidates.invalidate(stored.repriced);
    repriced.push(...stored.repriced);
  }
  return refuse("task.no_candidate", "the agents' prices change too often to rank them");
}

/** Selects the executors of a task and stores it with the price of the first. */
async function selectAndStore(
  services: ExecutorServices,
  submission: Submission,
  {
    payerId,
    lifetimeMs,
    lineage,
    chain,
    wanted,
    ...unfit
  }: Pick<Plan, "payerId" | "lifetimeMs" | "lineage" | "chain"> &
    UnfitExecutors & { readonly wanted: WantedInspection | undefined },
) {
  const { runtime, config } = services;
  const { targetId, body } = submission;
  const executors = await selectExecutors(services, {
    targetId,
    payerId,
    body,
    ...(await filterExecutors(services, wanted, unfit)),
  });
  if (!executors.ok) return executors;
  const { choice, record } = executors;
  const accepted = await acceptWanted(services, wanted, { targetId, attempts: executors.attempts });
  if (!accepted.ok) return accepted;
  const { attempts, acceptance } = accepted;
  const [first] = attempts;
  const least = getLeastHold(first, acceptance);
  const maxBudget = body.max_budget === undefined ? undefined : toMicro(body.max_budget);
  const { requireMaxBudget } = config.tasks;
  const refused = checkPrice(least, { payerId, maxBudget, requireMaxBudget });
  if (refused !== undefined) return refused;

  const plan: Plan = {
    taskId: newId(runtime),
    payerId,
    lifetimeMs,
    maxBudget,
    lineage,
    attempts,
    choice,
    record,
    chain,
    acceptance,
  };
  const row = buildRow(submission, plan, runtime.now());
  const stored = await storeTask(services, row, plan, submission);
  if (payerId !== null && first.charge > 0) {
    services.log.debug("account.debit", {
      correlationId: row.task_id,
      agent_id: payerId,
      price: toDollars(first.charge),
      ok: stored.ok,
    });
  }
  return !stored.ok && stored.code === "budget.insufficient"
    ? { ...withEstimatedCost(stored, least), detail: describeWaysToPay(config) }
    : stored;
}

/** Builds the task's row, before its money is held. */
function buildRow(
  { targetId, body }: Pick<Submission, "targetId" | "body">,
  { taskId, payerId, lifetimeMs, lineage, attempts, choice, chain, acceptance }: Plan,
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
    depth: lineage.depth,
    ancestors: lineage.depth === 0 ? null : JSON.stringify(lineage.ancestors),
    acceptance: acceptance === undefined ? null : JSON.stringify(acceptance),
  };
}

/** Holds the money, acquires a slot and stores the task, in one transaction. */
function storeTask(
  services: ExecutorServices,
  row: TaskRow,
  { taskId, payerId, maxBudget, lineage, attempts, chain, choice, record, acceptance }: Plan,
  { body, saveResponse }: Submission,
) {
  const { storage, runtime, identity } = services;
  const { charge } = row;
  const isRanked = choice !== null;
  return storage.transaction(async (tx) => {
    // Candidates are ranked from memory, so what is charged is compared with the rows.
    const repriced =
      choice === null ? [] : await listRepriced(tx, attempts, body.required_capabilities ?? []);
    if (repriced.includes(attempts[0].agent_id)) {
      return { ok: false as const, code: "price.changed" as const, repriced };
    }
    const withdrawn =
      acceptance === undefined
        ? []
        : await listWithdrawnOffers(tx, attempts, acceptance, identity.relayId);
    if (withdrawn.includes(attempts[0].agent_id)) {
      return { ok: false as const, code: "offer.withdrawn" as const, withdrawn, isRanked };
    }
    // Another executor whose price changed is not tried, so that it cannot refuse the task of the first.
    const unstable = [...repriced, ...withdrawn];
    const stable = attempts.filter(({ agent_id }) => !unstable.includes(agent_id));
    let locked = ZERO;
    if (payerId !== null && charge > 0) {
      const arbitration = toArbitration(acceptance);
      const request = { payerId, taskId, charge, maxBudget, arbitration };
      const hold = await reserveDelegatedHold(tx, runtime, request, chain);
      if (!hold.ok) return hold;
      locked = hold.locked;
    }
    const full = await acquireTaskSlot(tx, { submitter: payerId, charge });
    if (full !== undefined) return full;
    const task: TaskRow = {
      ...row,
      attempts: JSON.stringify(stable),
      locked,
      allocation_id: locked > 0 ? newId(runtime) : null,
    };
    await insertTask(tx, task);
    if (lineage.parentId !== undefined) {
      await insertParent(tx, { task_id: taskId, parent_id: lineage.parentId });
    }
    await enqueueTaskAssigned(tx, services, task);
    if (record !== undefined) await saveDecision(tx, taskId, record);
    const answer = {
      status: 201 as const,
      body: {
        task_id: taskId,
        status: "pending" as const,
        routing_choice: choice,
        expires_at: row.expires_at,
        estimated_cost: toDollars(charge),
        amount_locked: fromMicro(locked),
        ...(acceptance !== undefined && { acceptance: acceptance.acceptance }),
      },
    };
    await saveResponse?.(tx, answer);
    return { ok: true as const, task, answer };
  }, "together");
}

/** Adds the price to a refusal, so that the payer learns how much it needs. */
function withEstimatedCost<R extends Refusal>(refusal: R, charge: number): R {
  return { ...refusal, members: { estimated_cost: toDollars(charge) } };
}

/** Names the ways in which money reaches an account of this relay. */
function describeWaysToPay({ payments }: Services["config"]): string {
  const ways = [
    "a deposit by the operator",
    ...(payments.cardSecretKey === undefined ? [] : ["a card (POST .../checkout)"]),
    ...(payments.realPayments ? ["an x402 payment with the task"] : []),
  ];
  return `this relay takes ${ways.join(", ")}`;
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
