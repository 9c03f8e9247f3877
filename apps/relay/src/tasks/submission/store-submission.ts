import { fromMicro, toDollars, type Micro, ZERO } from "@agent/budget";
import type { DelegationToken } from "@agent/receipts";
import type { SubmitTaskBody } from "@agent/wire";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { listWithdrawnOffers } from "../../inspections/acceptance/accept-terms.ts";
import type { Caller } from "../../identity/caller.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import { saveDecision } from "../../routing/decision.ts";
import { listRepriced } from "../../routing/price.ts";
import type { selectExecutors } from "../../routing/select-executors.ts";
import { newId } from "../../runtime.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { enqueueTaskAssigned } from "../../webhooks/enqueue-task-webhooks.ts";
import { toArbitration } from "./wanted-inspection.ts";
import { acquireTaskSlot } from "./task-quota.ts";
import type { Lineage } from "./find-lineage.ts";
import { reserveDelegatedHold } from "./delegation-budget.ts";
import { buildTaskRow } from "../build-task-row.ts";
import { insertParent } from "./parent-store.ts";
import { insertTask } from "../store.ts";
import type { TaskAcceptance } from "../task-view.ts";

export interface Submission {
  readonly targetId: string;
  readonly body: SubmitTaskBody;
  readonly caller: Caller;
  readonly saveResponse?: SaveResponse | undefined;
}

/** The decisions on a submission, before anything is written. */
export interface SubmissionPlan extends Pick<Chosen, "attempts" | "choice" | "record"> {
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

/**
 * Acquires a slot, holds the money and stores the task, in one transaction. Nothing is stored if the price or the
 * inspection of the first executor has changed since the plan was made.
 */
export function storeSubmission(
  services: ExecutorServices,
  submission: Submission,
  plan: SubmissionPlan,
) {
  const { storage, runtime, identity } = services;
  const { body, saveResponse } = submission;
  const { taskId, payerId, maxBudget, lineage, attempts, chain, choice, record, acceptance } = plan;
  const row = buildRow(submission, plan, runtime.now());
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
    // Before the money: a payment must not be asked for a task that is refused afterwards.
    const full = await acquireTaskSlot(tx, { submitter: payerId, charge });
    if (full !== undefined) return full;
    let locked = ZERO;
    if (payerId !== null && charge > 0) {
      const arbitration = toArbitration(acceptance);
      const request = { payerId, taskId, charge, maxBudget, arbitration };
      const hold = await reserveDelegatedHold(tx, runtime, request, chain);
      if (!hold.ok) return hold;
      locked = hold.locked;
    }
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

/** Builds the task's row, before its money is held. */
function buildRow(
  { targetId, body }: Pick<Submission, "targetId" | "body">,
  { taskId, payerId, lifetimeMs, lineage, attempts, choice, chain, acceptance }: SubmissionPlan,
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
