import { asMicro, MICRO, type Micro } from "./money.ts";
import type { BalanceCode, FundsCode } from "./refusals.ts";

/** Where money can lie; the sum over all accounts is always 0. */
export type Account =
  | `agent:${string}`
  | `held:${string}`
  | `peer:${string}`
  | typeof FEE_ACCOUNT
  | typeof EXTERNAL_ACCOUNT;

/** What the relay has earned. */
export const FEE_ACCOUNT = "relay:fees";

const PEER_PREFIX = "relay:";

/** Everything outside the relay: the other side of deposits and withdrawals. */
export const EXTERNAL_ACCOUNT = "world";

/**
 * The account of an agent, of the hold of a task, of another relay, and of whoever pays or is paid: a
 * party is named by its agent id, or as `relay:<relay id>` when it is another relay.
 */
export const accountOf = {
  party: (id: string): Account =>
    id.startsWith(PEER_PREFIX) ? `peer:${id.slice(PEER_PREFIX.length)}` : `agent:${id}`,
  agent: (agentId: string): Account => `agent:${agentId}`,
  held: (taskId: string): Account => `held:${taskId}`,
  peer: (relayId: string): Account => `peer:${relayId}`,
} as const;

/**
 * The greatest balance of an agent: 9e9 currency units, inside the safe integers of micro-units.
 */
export const MAX_BALANCE: Micro = asMicro(9e9 * MICRO);

/**
 * The rule for an agent's balance after a movement, in micro-units (specification, "Budget").
 * Refused: `budget.insufficient` (below 0), `money.balance_limit` (above 9e9 units).
 */
export function checkBalance(
  balance: number,
): { readonly ok: true } | { readonly ok: false; readonly code: BalanceCode } {
  if (balance < 0) return { ok: false, code: "budget.insufficient" };
  if (balance > MAX_BALANCE) return { ok: false, code: "money.balance_limit" };
  return { ok: true };
}

/**
 * The rule for a movement on an account that must not owe, by its balance before and after it. An
 * account that owes already, because a card payment was taken back, may come closer to 0 but not
 * further from it. Refused: `budget.insufficient`, and `account.overdrawn` where it owed before.
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
 * What an agent can still spend, in micro-units: its balance, or the caller's own cap if that is
 * less. Holds and pending withdrawals have left the balance already, so nothing is taken off a
 * second time.
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
