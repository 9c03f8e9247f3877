import { allocatePlan, asMicro, fromMicro, toMicro, type Micro } from "@agent/budget";
import { findClaimWithKey } from "@agent/federation-protocol/discovery";
import type { BodyOf, Operations, StepAllocation } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { calculateRemotePrice } from "../federation/discovery/list-remote-candidates.ts";
import { rankExecutors, type ExecutorServices } from "../routing/rank-executors.ts";
import { getTaskPrice } from "../routing/price.ts";

type PlanBody = BodyOf<Operations["putPlan"]>;
type Step = PlanBody["steps"][number];

export type AllocateDependencies = ExecutorServices;

/** A step with the agent that would do it. */
interface AssignedStep {
  readonly stepId: string;
  readonly agentId: string;
  readonly cost: Micro;
  /** The step's place in the plan. */
  readonly position: number;
}

/** Higher than the cost of any plan. */
const UNLIMITED = asMicro(Number.MAX_SAFE_INTEGER);

/**
 * Chooses agents for the steps of a plan, at their current prices (docs/decisions.md, 9), without
 * holding money. The result is empty when a step finds no agent, when a step exceeds its budget, or
 * when all together exceed the plan's. A step that names neither agent nor capability is the
 * planner's own and costs nothing. Undefined for a plan that requests no allocation.
 */
export async function allocateSteps(
  services: AllocateDependencies,
  agentId: string,
  { steps, max_budget: budget }: PlanBody,
): Promise<StepAllocation[] | undefined> {
  const isDelegated = (step: Step) => step.agent_id !== undefined || step.capability !== undefined;
  if (budget === undefined && !steps.some(isDelegated)) return undefined;
  const found = new Map<string, Promise<Choice | undefined>>();
  const assigned: AssignedStep[] = [];
  for (const [place, step] of steps.entries()) {
    if (!isDelegated(step)) continue;
    const key = JSON.stringify([step.agent_id, step.capability, step.max_budget]);
    const choice = found.get(key) ?? chooseAgent(services, agentId, step);
    found.set(key, choice);
    const chosen = await choice;
    if (chosen === undefined) return [];
    assigned.push({ ...chosen, stepId: step.step_id, position: place });
  }
  const limit = budget === undefined ? UNLIMITED : toMicro(budget);
  return allocatePlan({ steps: assigned, budget: limit })
    .flatMap(({ steps: own }) => own)
    .toSorted((a, b) => a.position - b.position)
    .map(({ stepId, agentId: agent_id, cost }) => ({
      step_id: stepId,
      agent_id,
      amount: fromMicro(cost),
    }));
}

type Choice = Pick<AssignedStep, "agentId" | "cost">;

/**
 * Chooses the agent that a step names if it sells the step and the planner has not blocked it, otherwise
 * the agent that scored routing prefers; always within the step's budget.
 */
async function chooseAgent(
  services: AllocateDependencies,
  payerId: string,
  { agent_id: agentId, capability, max_budget: maxBudget }: Step,
): Promise<Choice | undefined> {
  const required = capability === undefined ? [] : [capability];
  if (agentId !== undefined) {
    if (services.trustGraph.isBlocked(payerId, agentId)) return undefined;
    const cost = await getAgentPrice(services, agentId, required);
    if (cost === null || (maxBudget !== undefined && cost > toMicro(maxBudget))) return undefined;
    return { agentId, cost };
  }
  const wanted = { payerId, required, excluded: [], maxBudget, explorationDrive: 0 };
  const { executors } = await rankExecutors(services, wanted);
  const [first] = executors;
  return first && { agentId: first.agent_id, cost: first.charge };
}

/**
 * Returns the price at this relay, or the last one announced by the agent's relay; no peer is queried. Null
 * for an agent that gets no task: one that does not sell it, that is revoked, or whose id is in conflict.
 */
async function getAgentPrice(
  { federation, storage }: AllocateDependencies,
  agentId: string,
  required: readonly string[],
): Promise<Micro | null> {
  const agent = await findAgent(storage.read, agentId);
  if (agent !== undefined && agent.revoked_at !== null) return null;
  const remote = agent === undefined ? federation?.remoteAgents.get(agentId) : undefined;
  if (remote === undefined) return getTaskPrice(storage.read, agentId, required);
  const claimed = findClaimWithKey(remote, undefined);
  return claimed === undefined ? null : calculateRemotePrice(claimed, required);
}
