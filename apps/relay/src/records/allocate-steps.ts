import { allocatePlan, asMicro, fromMicro, toMicro, type Micro } from "@agent/budget";
import type { BodyOf, Operations, StepAllocation } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { priceOfRemote } from "../federation/remote-candidates.ts";
import { chooseExecutors, type ChooseServices } from "../routing/choose-executors.ts";
import { priceOf } from "../routing/price.ts";

type PlanBody = BodyOf<Operations["putPlan"]>;
type Step = PlanBody["steps"][number];

export type AllocateServices = ChooseServices;

/** A step with the agent that would do it. */
interface Assigned {
  readonly stepId: string;
  readonly agentId: string;
  readonly cost: Micro;
  /** Its place in the plan. */
  readonly place: number;
}

/** More than any plan costs. */
const unlimited = asMicro(Number.MAX_SAFE_INTEGER);

/**
 * Who would do the steps of a plan, at which price now (docs/decisions.md, 9); nothing is held for it.
 * All or nothing: empty when a step finds no agent, when one costs more than it may, or all together
 * do. A step that names neither agent nor capability is the planner's own and costs nothing. Undefined
 * for a plan that asks for no allocation.
 */
export async function allocateSteps(
  services: AllocateServices,
  agentId: string,
  { steps, max_budget: budget }: PlanBody,
): Promise<StepAllocation[] | undefined> {
  const isOthers = (step: Step) => step.agent_id !== undefined || step.capability !== undefined;
  if (budget === undefined && !steps.some(isOthers)) return undefined;
  const found = new Map<string, Promise<Choice | undefined>>();
  const assigned: Assigned[] = [];
  for (const [place, step] of steps.entries()) {
    if (!isOthers(step)) continue;
    const key = JSON.stringify([step.agent_id, step.capability, step.max_budget]);
    const choice = found.get(key) ?? choose(services, agentId, step);
    found.set(key, choice);
    const chosen = await choice;
    if (chosen === undefined) return [];
    assigned.push({ ...chosen, stepId: step.step_id, place });
  }
  const limit = budget === undefined ? unlimited : toMicro(budget);
  return allocatePlan({ steps: assigned, budget: limit })
    .flatMap(({ steps: own }) => own)
    .toSorted((a, b) => a.place - b.place)
    .map(({ stepId, agentId: agent_id, cost }) => ({
      step_id: stepId,
      agent_id,
      amount: fromMicro(cost),
    }));
}

type Choice = Pick<Assigned, "agentId" | "cost">;

/**
 * The agent that a step names, if it sells the step and the planner has not blocked it, else the one
 * that scored routing would choose; within the step's budget.
 */
async function choose(
  services: AllocateServices,
  payerId: string,
  { agent_id: agentId, capability, max_budget: maxBudget }: Step,
): Promise<Choice | undefined> {
  const required = capability === undefined ? [] : [capability];
  if (agentId !== undefined) {
    if (services.trustGraph.isBlocked(payerId, agentId)) return undefined;
    const cost = await priceOfNamed(services, agentId, required);
    if (cost === null || (maxBudget !== undefined && cost > toMicro(maxBudget))) return undefined;
    return { agentId, cost };
  }
  const wanted = { payerId, required, excluded: [], maxBudget, explorationDrive: 0 };
  const { executors } = await chooseExecutors(services, wanted);
  const [first] = executors;
  return first && { agentId: first.agent_id, cost: asMicro(first.charge) };
}

/** The price at this relay or at the one that the agent belongs to; no peer is asked for it now. */
async function priceOfNamed(
  { federation, storage }: AllocateServices,
  agentId: string,
  required: readonly string[],
): Promise<Micro | null> {
  const remote = federation?.remote.get(agentId);
  const isHere = remote === undefined || (await findAgent(storage.read, agentId)) !== undefined;
  return isHere ? priceOf(storage.read, agentId, required) : priceOfRemote(remote, required);
}
