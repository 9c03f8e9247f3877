import { targetEligibility, type RoutingRecord, type TargetRefusal } from "@agent/routing-semiring";
import { refuse, type Refusal, type RoutingChoice, type SubmitTaskBody } from "@agent/wire";
import { locateAgent, type RemoteTarget } from "../federation/locate-agent.ts";
import { refuseOtherKey } from "../agents/refuse-key.ts";
import type { Attempt } from "./attempt.ts";
import { chooseExecutors, type ChooseServices } from "./choose-executors.ts";
import { priceOf } from "./price.ts";

export interface SubmittedTo {
  readonly targetId: string;
  readonly payerId: string | null;
  readonly body: SubmitTaskBody;
}

type Executors =
  | {
      readonly ok: true;
      readonly attempts: readonly [Attempt, ...Attempt[]];
      readonly choice: RoutingChoice | null;
      readonly record?: RoutingRecord | undefined;
    }
  | Refusal<ExecutorRefusal>;

type ExecutorRefusal = TargetRefusal | "task.id_conflict" | "agent.not_found";

/**
 * The agents to try in turn: those of scored routing where capabilities are required, and the target
 * itself after or instead of them. Every executor has passed the same rule, so that no later one works
 * for less than it asks for.
 */
export async function executorsFor(
  services: ChooseServices,
  { targetId, payerId, body }: SubmittedTo,
): Promise<Executors> {
  const required = body.required_capabilities ?? [];
  const target = await targetOf(services, { targetId, payerId, body });
  // A token names its only executor, so there is nothing to choose.
  if (required.length === 0 || body.delegation_token !== undefined) return targetAlone(target);
  const { executors, choice, record } = await chooseExecutors(services, {
    payerId,
    required,
    excluded: body.exclude_agents ?? [],
    maxBudget: body.max_budget,
    explorationDrive: body.exploration_drive ?? 0,
    pinned: { agentId: targetId, publicKey: body.public_key },
  });
  const [first, ...others] = executors;
  if (first === undefined) return targetAlone(target);
  const isRanked = executors.some(({ agent_id }) => agent_id === targetId);
  const inTurn = target.ok && !isRanked ? [...others, target.attempt] : others;
  // No executor is tried at a price above the one that the payer was told.
  const later = inTurn.filter(({ charge }) => charge <= first.charge);
  return { ok: true, attempts: [first, ...later], choice, record };
}

type Target = { readonly ok: true; readonly attempt: Attempt } | Refusal<ExecutorRefusal>;

function targetAlone(target: Target): Executors {
  return target.ok ? { ok: true, attempts: [target.attempt], choice: null } : target;
}

/** The target with its price, or why it gets no task of this payer. */
async function targetOf(
  services: ChooseServices,
  { targetId, payerId, body }: SubmittedTo,
): Promise<Target> {
  const quote = await quoteOf(services, targetId, body);
  if ("ok" in quote) return quote;
  const { charge: price, ...target } = quote;
  const eligible = targetEligibility({
    isBlocked: services.trustGraph.isBlocked(payerId, targetId),
    isExcluded: body.exclude_agents?.includes(targetId) === true,
    price,
  });
  if (!eligible.ok) return refuse(eligible.code);
  return { ok: true, attempt: { ...target, charge: eligible.price } };
}

/** What the target asks for the task, here or at the relay that it belongs to. */
async function quoteOf(
  services: ChooseServices,
  targetId: string,
  body: SubmitTaskBody,
): Promise<RemoteTarget | Refusal<"task.id_conflict" | "agent.not_found">> {
  const { federation, storage } = services;
  const required = body.required_capabilities ?? [];
  const charge = await priceOf(storage.read, targetId, required);
  const local = { agent_id: targetId, charge };
  const pinned = { agentId: targetId, publicKey: body.public_key };
  // Tokens do not cross relays.
  const remote =
    federation === undefined || body.delegation_token !== undefined
      ? undefined
      : await locateAgent({ ...services, federation }, pinned, required);
  return remote ?? (await refuseOtherKey(storage.read, pinned)) ?? local;
}
