import {
  attenuateDelegationToken,
  delegationChain,
  DELEGATION_LIMITS,
  type DelegationToken,
  effectiveRight,
  staysInScope,
} from "@agent/receipts";
import type { DelegateRequest } from "../execution/delegation.ts";
import type { Identity } from "../identity.ts";

export type PassedOn =
  | { readonly ok: true; readonly maxBudget?: number; readonly token?: DelegationToken }
  | { readonly ok: false; readonly error: string };

/**
 * What of its own token an agent hands to the one that it hires: never more than it has, and no longer
 * than `until`, ms since the Unix epoch. A token names its delegate, so none goes to whoever the relay
 * will choose for a capability.
 */
export function passOn(
  own: DelegationToken | undefined,
  request: DelegateRequest,
  holder: { readonly identity: Identity; readonly tokenId: string; readonly until: number },
): PassedOn {
  const { agent_id: delegateId, scope, max_budget: asked } = request;
  if (scope !== undefined && (own === undefined || delegateId === undefined)) {
    return failed("A scope needs a delegation token to narrow and an agent_id to name in it");
  }
  if (own === undefined) return { ok: true, ...(asked !== undefined && { maxBudget: asked }) };

  const chain = delegationChain(own) ?? [];
  const { tools, maxBudget: most, expiresAt } = effectiveRight(chain);
  const budgets = [asked, most].filter((amount) => amount !== undefined);
  const budget = budgets.length > 0 && { maxBudget: Math.min(...budgets) };
  if (delegateId === undefined) return { ok: true, ...budget };
  if (chain.length >= DELEGATION_LIMITS.maxChain)
    return failed("The delegation was passed on too often");

  const narrowed = [...new Set(scope ?? tools)].toSorted().join(",");
  if (!staysInScope(narrowed.split(",").filter(Boolean), [...tools].join(","))) {
    return failed("The scope goes beyond that of the delegation");
  }
  const token = attenuateDelegationToken(
    own,
    {
      token_id: holder.tokenId,
      delegate_agent_id: delegateId,
      scope: narrowed,
      expires_at: Math.min(expiresAt, holder.until),
      ...(budget !== false && { max_budget: budget.maxBudget }),
    },
    holder.identity,
  );
  return { ok: true, ...budget, token };
}

function failed(error: string): PassedOn {
  return { ok: false, error };
}
