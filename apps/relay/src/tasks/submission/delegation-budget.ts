import { asMicro, toMicro, type Micro } from "@agent/budget";
import { parseDelegationChain, type DelegationToken } from "@agent/receipts";
import { refuse, type Refusal } from "@agent/wire";
import { computeLeastHold, reserveHold, type HoldRequest } from "../../budget/reserve-hold.ts";
import type { Runtime } from "../../runtime.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import {
  beginBudget,
  reduceBudget,
  releaseBudget,
  getUsedBudget,
  reserveBudget,
  type DelegationTokenKey,
} from "./delegation-store.ts";

/**
 * Holds a price within the remaining budget of a token and all its parents, and counts the hold
 * against each of them. A small budget may reduce the risk buffer, but never the price.
 */
export async function reserveDelegatedHold(
  tx: Tx,
  runtime: Runtime,
  request: HoldRequest,
  chain: readonly DelegationToken[],
): Promise<
  | { readonly ok: true; readonly locked: Micro }
  | Refusal<"budget.insufficient" | "account.overdrawn" | "delegation.budget_exceeded">
> {
  const budgets = toBudgets(chain);
  const now = runtime.now();
  for (const { issuer_id, token_id, expiresAt } of budgets) {
    await beginBudget(tx, { issuer_id, token_id, expiresAt, now });
  }
  const remaining = await Promise.all(budgets.map((budget) => getRemainingBudget(tx, budget)));
  const available = Math.min(...remaining, request.maxBudget ?? Infinity);
  if (computeLeastHold(request) > available) return refuse("delegation.budget_exceeded");
  const maxBudget = available === Infinity ? undefined : asMicro(available);
  const hold = await reserveHold(tx, runtime, { ...request, maxBudget });
  if (!hold.ok) return hold;
  for (const { issuer_id, token_id, cap } of budgets) {
    if (!(await reserveBudget(tx, { issuer_id, token_id, cap, amount: hold.locked }))) {
      return refuse("delegation.budget_exceeded");
    }
  }
  return hold;
}

/**
 * Returns the uncharged part of an ended task's hold to its token and all parents. Must run once
 * for each task, because it also decrements their open tasks.
 */
export async function releaseDelegationBudget(
  tx: Tx,
  { delegation_token, locked }: Pick<TaskRow, "delegation_token" | "locked">,
  charged = 0,
): Promise<void> {
  if (delegation_token === null || locked === 0) return;
  for (const { issuer_id, token_id } of toBudgets(parseDelegationChain(delegation_token) ?? [])) {
    await releaseBudget(tx, { issuer_id, token_id }, locked - charged);
  }
}

/** Returns a part of the hold of an open task, or of an open inspection, to its token and all parents. */
export async function reduceDelegationUse(
  tx: Tx,
  { delegation_token }: Pick<TaskRow, "delegation_token">,
  amount: number,
): Promise<void> {
  if (delegation_token === null) return;
  for (const { issuer_id, token_id } of toBudgets(parseDelegationChain(delegation_token) ?? [])) {
    await reduceBudget(tx, { issuer_id, token_id }, amount);
  }
}

type Budget = DelegationTokenKey & { readonly cap: number; readonly expiresAt: number };

function toBudgets(chain: readonly DelegationToken[]): Budget[] {
  return chain.flatMap(
    ({ issuer_agent_id: issuer_id, token_id, max_budget, expires_at: expiresAt }) =>
      max_budget === undefined
        ? []
        : [{ issuer_id, token_id, cap: toMicro(max_budget), expiresAt }],
  );
}

async function getRemainingBudget(
  read: Reader,
  { cap, issuer_id, token_id }: Budget,
): Promise<number> {
  return Math.max(0, cap - (await getUsedBudget(read, { issuer_id, token_id })));
}
