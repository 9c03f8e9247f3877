import {
  attenuateDelegationToken,
  parseDelegationChain,
  DELEGATION_LIMITS,
  type DelegationToken,
  getEffectiveRight,
  isWithinScope,
} from "@agent/receipts";
import type { DelegateRequest } from "../../execution/delegation/delegation.ts";
import type { Identity } from "../../identity/identity.ts";

export type AttenuateResult =
  | { readonly ok: true; readonly maxBudget?: number; readonly token?: DelegationToken }
  | { readonly ok: false; readonly error: string };

/**
 * What of its own token an agent hands to the one that it hires: never more than it has, and no longer
 * than `until`, ms since the Unix epoch. A token names its delegate, so none goes to whoever the relay
 * will choose for a capability.
 */
export function attenuateToken(
  ownToken: DelegationToken | undefined,
  request: DelegateRequest,
  holder: { readonly identity: Identity; readonly tokenId: string; readonly until: number },
): AttenuateResult {
  const { agent_id: delegateId, scope, max_budget: requestedBudget } = request;
  if (scope !== undefined && (ownToken === undefined || delegateId === undefined)) {
    return buildFailure("A scope needs a delegation token to narrow and an agent_id to name in it");
  }
  if (ownToken === undefined)
    return { ok: true, ...(requestedBudget !== undefined && { maxBudget: requestedBudget }) };

  const chain = parseDelegationChain(ownToken) ?? [];
  const { tools, maxBudget: tokenBudget, expiresAt } = getEffectiveRight(chain);
  const budgets = [requestedBudget, tokenBudget].filter((amount) => amount !== undefined);
  const budget = budgets.length > 0 && { maxBudget: Math.min(...budgets) };
  if (delegateId === undefined) return { ok: true, ...budget };
  if (chain.length >= DELEGATION_LIMITS.maxChain)
    return buildFailure("The delegation was passed on too often");

  const narrowed = [...new Set(scope ?? tools)].toSorted().join(",");
  if (!isWithinScope(narrowed.split(",").filter(Boolean), [...tools].join(","))) {
    return buildFailure("The scope goes beyond that of the delegation");
  }
  const token = attenuateDelegationToken(
    ownToken,
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

function buildFailure(error: string): AttenuateResult {
  return { ok: false, error };
}
