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
 * Narrows an agent's own token for its delegate: it never grants more rights than the agent has, and is
 * valid until `until` at most, ms since the Unix epoch. A token names its delegate, so there is none if the
 * relay chooses the executor.
 */
export function attenuateToken(
  ownToken: DelegationToken | undefined,
  request: DelegateRequest,
  holder: { readonly identity: Identity; readonly tokenId: string; readonly until: number },
): AttenuateResult {
  const { agent_id: delegateId, scope, max_budget: requestedBudget } = request;
  if (scope !== undefined && (ownToken === undefined || delegateId === undefined)) {
    return buildFailure("A scope requires a delegation token of the task and an agent_id");
  }
  if (ownToken === undefined)
    return { ok: true, ...(requestedBudget !== undefined && { maxBudget: requestedBudget }) };

  const chain = parseDelegationChain(ownToken) ?? [];
  const { tools, maxBudget: tokenBudget, expiresAt } = getEffectiveRight(chain);
  const budgets = [requestedBudget, tokenBudget].filter((amount) => amount !== undefined);
  const budget = budgets.length > 0 && { maxBudget: Math.min(...budgets) };
  if (delegateId === undefined) return { ok: true, ...budget };
  if (chain.length >= DELEGATION_LIMITS.maxChain)
    return buildFailure("The delegation chain is too long");

  const narrowed = [...new Set(scope ?? tools)].toSorted().join(",");
  if (!isWithinScope(narrowed.split(",").filter(Boolean), [...tools].join(","))) {
    return buildFailure("The scope exceeds that of the delegation");
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
