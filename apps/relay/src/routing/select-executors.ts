import {
  checkTargetEligibility,
  type RoutingRecord,
  type TargetRefusal,
} from "@agent/routing-semiring";
import { refuse, type Refusal, type RoutingChoice, type SubmitTaskBody } from "@agent/wire";
import { locateAgent, type RemoteTarget } from "../federation/discovery/locate-agent.ts";
import { checkTargetKey } from "../agents/keys/check-key.ts";
import type { Attempt } from "./attempt.ts";
import { rankExecutors, type ExecutorQuery, type ExecutorServices } from "./rank-executors.ts";
import { findTarget } from "./target-store.ts";
import { parseListedPrice } from "./price.ts";

export interface ExecutorRequest {
  readonly targetId: string;
  readonly payerId: string | null;
  readonly body: SubmitTaskBody;
  /** Agents that scored routing excludes in addition to those that the caller excludes. */
  readonly leftOut: readonly string[];
  /** Filters out agents that do not meet the task's requirements other than capabilities. */
  readonly accepts?: ExecutorQuery["accepts"];
}

type SelectedExecutors =
  | {
      readonly ok: true;
      readonly attempts: readonly [Attempt, ...Attempt[]];
      readonly choice: RoutingChoice | null;
      readonly record?: RoutingRecord | undefined;
    }
  | Refusal<ExecutorRefusal>;

type ExecutorRefusal = TargetRefusal | QuoteRefusal;

type QuoteRefusal = "task.target_revoked" | "task.id_conflict" | "agent.not_found";

/**
 * Returns the agents to try in order: those of scored routing if capabilities are required, and the target
 * itself after them or instead of them. The same price rule applies to all, so that no later executor works
 * for less than its price.
 */
export async function selectExecutors(
  services: ExecutorServices,
  { targetId, payerId, body, leftOut, accepts }: ExecutorRequest,
): Promise<SelectedExecutors> {
  const required = body.required_capabilities ?? [];
  // A token names its only executor, so there is no choice.
  const isScored = required.length > 0 && body.delegation_token === undefined;
  const excluded = [...(body.exclude_agents ?? []), ...(isScored ? leftOut : [])];
  const target = await checkTarget(services, { targetId, payerId, body, excluded });
  if (!isScored) return targetOnly(target);
  const { executors, choice, record } = await rankExecutors(services, {
    payerId,
    required,
    excluded,
    maxBudget: body.max_budget,
    explorationDrive: body.exploration_drive ?? 0,
    pinned: { agentId: targetId, publicKey: body.public_key },
    accepts,
  });
  const [first, ...others] = executors;
  if (first === undefined) return targetOnly(target);
  const isRanked = executors.some(({ agent_id }) => agent_id === targetId);
  const ordered = target.ok && !isRanked ? [...others, target.attempt] : others;
  // No executor may cost more than the price that was stated to the payer.
  const fallbacks = ordered.filter(({ charge }) => charge <= first.charge);
  return { ok: true, attempts: [first, ...fallbacks], choice, record };
}

type Target = { readonly ok: true; readonly attempt: Attempt } | Refusal<ExecutorRefusal>;

function targetOnly(target: Target): SelectedExecutors {
  return target.ok ? { ok: true, attempts: [target.attempt], choice: null } : target;
}

/** Returns the target with its price, or the refusal for this payer. */
async function checkTarget(
  services: ExecutorServices,
  {
    targetId,
    payerId,
    body,
    excluded,
  }: Omit<ExecutorRequest, "leftOut" | "accepts"> & { readonly excluded: readonly string[] },
): Promise<Target> {
  const quoted = await getQuote(services, targetId, body);
  if (!quoted.ok) return quoted;
  const { charge: price, ...target } = quoted.quote;
  const eligible = checkTargetEligibility({
    isBlocked: services.trustGraph.isBlocked(payerId, targetId),
    isExcluded: excluded.includes(targetId),
    price,
  });
  if (!eligible.ok) return refuse(eligible.code);
  return { ok: true, attempt: { ...target, charge: eligible.price } };
}

/** Returns the target's price for the task, at this relay or at its own. */
async function getQuote(
  services: ExecutorServices,
  targetId: string,
  body: SubmitTaskBody,
): Promise<{ readonly ok: true; readonly quote: RemoteTarget } | Refusal<QuoteRefusal>> {
  const { federation, storage } = services;
  const required = body.required_capabilities ?? [];
  const { listing, revoked_at } = await findTarget(storage.read, targetId);
  if (revoked_at !== null) return refuse("task.target_revoked");
  const pinned = { agentId: targetId, publicKey: body.public_key };
  // Tokens do not cross relays.
  const remote =
    federation === undefined || body.delegation_token !== undefined
      ? undefined
      : await locateAgent({ ...services, federation }, pinned, required);
  if (remote !== undefined) return remote;
  const otherKey = await checkTargetKey(storage.read, pinned);
  const charge = parseListedPrice(listing, required);
  return otherKey ?? { ok: true, quote: { agent_id: targetId, charge } };
}
