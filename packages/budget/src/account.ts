import { asMicro, MICRO, type Micro } from "./money.ts";
import type { BalanceCode, FundsCode } from "./refusals.ts";

/** An account; the sum over all accounts is always 0. */
export type Account =
  | `agent:${string}`
  | `held:${string}`
  | `peer:${string}`
  | typeof FEE_ACCOUNT
  | typeof EXTERNAL_ACCOUNT;

/** The account of the relay's earnings. */
export const FEE_ACCOUNT = "relay:fees";

const PEER_PREFIX = "relay:";

/** The account of everything outside the relay, the other side of deposits and withdrawals. */
export const EXTERNAL_ACCOUNT = "world";

/**
 * Builds the account of an agent, of a task's hold, of another relay, or of a party. A party is a payer or
 * payee, named by its agent id or, if it is another relay, as `relay:<relay id>`.
 */
export const accountOf = {
  party: (id: string): Account =>
    id.startsWith(PEER_PREFIX) ? `peer:${id.slice(PEER_PREFIX.length)}` : `agent:${id}`,
  agent: (agentId: string): Account => `agent:${agentId}`,
  held: (taskId: string): Account => `held:${taskId}`,
  peer: (relayId: string): Account => `peer:${relayId}`,
} as const;

/** The maximum balance of an agent: 9e9 currency units, within the safe integers of micro-units. */
export const MAX_BALANCE: Micro = asMicro(9e9 * MICRO);

/**
 * Checks an agent's balance after a movement, in micro-units (specification, "Budget"). Refused with
 * `budget.insufficient` (below 0) or `money.balance_limit` (above 9e9 units).
 */
export function checkBalance(
  balance: number,
): { readonly ok: true } | { readonly ok: false; readonly code: BalanceCode } {
  if (balance < 0) return { ok: false, code: "budget.insufficient" };
  if (balance > MAX_BALANCE) return { ok: false, code: "money.balance_limit" };
  return { ok: true };
}

/**
 * Checks the balances of an account before and after a movement that must not overdraw it. An account
 * that is overdrawn because a card payment was reversed may only move towards 0. Refused with
 * `budget.insufficient`, or with `account.overdrawn` if it was overdrawn before.
 */
export function checkFunds({
  before,
  after,
}: {
  readonly before: number;
  readonly after: number;
}): { readonly ok: true } | { readonly ok: false; readonly code: FundsCode } {
  if (after >= 0 || after >= before) return { ok: true };
  return { ok: false, code: before < 0 ? "account.overdrawn" : "budget.insufficient" };
}

/**
 * Computes the amount that an agent can spend, in micro-units: its balance, or the caller's maximum if that
 * is lower. Holds and pending withdrawals have already left the balance and are not subtracted again.
 */
export function computeAvailableBalance({
  balance,
  maxBudget = balance,
}: {
  readonly balance: Micro;
  readonly maxBudget?: Micro | undefined;
}): Micro {
  return asMicro(Math.max(0, Math.min(balance, maxBudget)));
}
