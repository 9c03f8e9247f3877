import { isUuid } from "@agent/crypto";
import { toDollars, toMicro } from "@agent/budget";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { refuseField } from "../../http/server/validate.ts";
import { resolveActingAgent } from "../../identity/caller.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import { selectExecutors } from "../../routing/select-executors.ts";
import { newId } from "../../runtime.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import {
  acceptWanted,
  filterExecutors,
  getLeastHold,
  readWanted,
  type UnfitExecutors,
  type WantedInspection,
} from "./wanted-inspection.ts";
import { checkPrice, describeWaysToPay, withEstimatedCost } from "./check-price.ts";
import { checkDelegationToken } from "./check-delegation-token.ts";
import { findLineage } from "./find-lineage.ts";
import { checkLifetime } from "../lifetime.ts";
import { storeSubmission, type Submission, type SubmissionPlan } from "./store-submission.ts";

type SubmitTask = Operations["submitTask"];

/** From this ranking on, agents whose price changed during the ranking are left out. */
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
  }: Pick<SubmissionPlan, "payerId" | "lifetimeMs" | "lineage" | "chain"> &
    UnfitExecutors & { readonly wanted: WantedInspection | undefined },
) {
  const { runtime, config } = services;
  const { targetId, body } = submission;
  const executors = await selectExecutors(services, {
    targetId,
    payerId,
    body,
    ...(await filterExecutors(services, wanted, { ...unfit, body })),
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

  const taskId = newId(runtime);
  const stored = await storeSubmission(services, submission, {
    taskId,
    payerId,
    lifetimeMs,
    maxBudget,
    lineage,
    attempts,
    choice,
    record,
    chain,
    acceptance,
  });
  if (payerId !== null && first.charge > 0) {
    services.log.debug("account.debit", {
      correlationId: taskId,
      agent_id: payerId,
      price: toDollars(first.charge),
      ok: stored.ok,
    });
  }
  return !stored.ok && stored.code === "budget.insufficient"
    ? { ...withEstimatedCost(stored, least), detail: describeWaysToPay(config) }
    : stored;
}
