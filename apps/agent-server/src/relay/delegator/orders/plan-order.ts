import { limits } from "@agent/wire";
import { findProviders } from "../../delegation/find-providers.ts";
import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
  type WorkOrder,
} from "../delegator-answer.ts";

/** The parts of a submission that are looked up and must be identical when it is repeated. */
export interface OrderPlan {
  /** The agent that the task is submitted to. */
  readonly agentId: string;
  /** The key of the only agent that may get the task; absent: the relay chooses an executor. */
  readonly publicKey?: string | undefined;
  readonly excludeAgents: readonly string[];
}

type Refused = Extract<DelegatorAnswer, { ok: false }>;

/**
 * Decides the agent that a task is submitted to: the named one, which then is the only one that may
 * get it, or one that the relay may replace by any other within the budget.
 */
export async function planOrder(
  { client, ownId }: DelegatorContext,
  { agent_id: agentId, required_capabilities: capabilities = [], max_budget: budget }: WorkOrder,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly plan: OrderPlan } | Refused> {
  if (agentId === ownId) return refuse("delegation.self", "An agent cannot delegate to itself");
  if (agentId !== undefined) {
    const known = await client.getAgent({ params: { agentId } }, { signal });
    // An agent that the relay does not list may still be known to it, which its submission decides.
    if (!known.ok && known.status !== 404) return toDelegatorRefusal(known);
    const publicKey = known.ok ? known.body.public_key : null;
    const pinned = publicKey === null ? {} : { publicKey };
    return { ok: true, plan: { agentId, ...pinned, excludeAgents: [] } };
  }
  if (capabilities.length === 0) {
    return refuse("request.invalid", "A task must name an agent_id or required_capabilities");
  }
  const found = await findProviders(client, { capabilities, ownId, signal });
  if (!found.ok) return refuse(found.code, found.message);
  const { providers } = found;
  const [first, ...rest] = providers.filter(({ cost }) => (cost ?? 0) <= budget);
  if (first === undefined) {
    const lowest = Math.min(...providers.map(({ cost }) => cost ?? 0));
    const message = `No agent works for max_budget ${budget}; the lowest price is ${lowest} USD`;
    return refuse("budget.max_exceeded", message);
  }
  const affordable = new Set([first, ...rest].map(({ agent_id: id }) => id));
  const tooExpensive = providers.map(({ agent_id: id }) => id).filter((id) => !affordable.has(id));
  const excludeAgents = [ownId, ...tooExpensive].slice(0, limits.excludedAgents);
  return { ok: true, plan: { agentId: first.agent_id, excludeAgents } };
}

function refuse(code: string, message: string): Refused {
  return { ok: false, code, message };
}
