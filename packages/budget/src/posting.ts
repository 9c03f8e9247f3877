import { accountOf, FEE_ACCOUNT, EXTERNAL_ACCOUNT, type Account } from "./account.ts";
import { asMicro, negate, assertNotNegative, ZERO, type Micro } from "./money.ts";

/** The types of a transaction (specification, "Virtual account and transactions"). */
export const transactionTypes = [
  "deposit",
  "withdrawal",
  "allocation_hold",
  "allocation_release",
  "settlement_debit",
  "settlement_credit",
  "fee",
] as const;

/** The type of a posting, as statements show it. */
export type TransactionType = (typeof transactionTypes)[number];

/** One side of a movement: `amount` micro-units into the account, or out of it if negative. */
export interface Posting {
  readonly account: Account;
  readonly type: TransactionType;
  readonly amount: Micro;
}

/** Builds the postings of a deposit from outside the relay. */
export function buildDepositPostings({
  agentId,
  amount,
}: {
  readonly agentId: string;
  readonly amount: Micro;
}): readonly Posting[] {
  return buildTransfer("deposit", EXTERNAL_ACCOUNT, accountOf.agent(agentId), amount);
}

/**
 * Builds the postings of a reversed deposit, for example a refunded or disputed card payment: a `deposit`
 * with a negative amount. It is the only movement that may overdraw an agent's account.
 */
export function buildReversalPostings({
  agentId,
  amount,
}: {
  readonly agentId: string;
  readonly amount: Micro;
}): readonly Posting[] {
  return buildTransfer("deposit", accountOf.agent(agentId), EXTERNAL_ACCOUNT, amount);
}

/** Returns whether a posting reverses a deposit. */
export function isReversal({ account, type, amount }: Posting): boolean {
  return type === "deposit" && amount < 0 && account.startsWith("agent:");
}

/** Builds the postings that hold the payer's money for a task. */
export function buildHoldPostings({ payerId, taskId, amount }: Hold): readonly Posting[] {
  return buildTransfer("allocation_hold", accountOf.party(payerId), accountOf.held(taskId), amount);
}

/** Builds the postings that return the whole hold of a task to its payer. */
export function buildReleasePostings({ payerId, taskId, amount }: Hold): readonly Posting[] {
  return buildTransfer(
    "allocation_release",
    accountOf.held(taskId),
    accountOf.party(payerId),
    amount,
  );
}

/**
 * Builds the postings of a settlement: the whole hold returns to the payer, who then pays the charge; the
 * payee receives the charge less the fee, and the relay the fee. In this order no balance falls below 0.
 * Throws a RangeError unless 0 <= fee <= charge <= locked.
 */
export function buildSettlementPostings({
  payerId,
  payeeId,
  taskId,
  locked,
  charge,
  fee,
}: {
  readonly payerId: string;
  readonly payeeId: string;
  readonly taskId: string;
  readonly locked: Micro;
  readonly charge: Micro;
  readonly fee: Micro;
}): readonly Posting[] {
  const net = assertNotNegative(asMicro(charge - assertNotNegative(fee)));
  assertNotNegative(asMicro(locked - charge));
  const paid: readonly Posting[] = [
    { account: accountOf.party(payerId), type: "settlement_debit", amount: negate(charge) },
    { account: accountOf.party(payeeId), type: "settlement_credit", amount: net },
    { account: FEE_ACCOUNT, type: "fee", amount: fee },
  ];
  return [
    ...buildReleasePostings({ payerId, taskId, amount: locked }),
    ...paid.filter(({ amount }) => amount !== 0),
  ];
}

/** Builds the postings that hold a withdrawal until the operator has paid it. */
export function buildWithdrawalPostings({
  agentId,
  withdrawalId,
  amount,
}: Payout): readonly Posting[] {
  return buildTransfer(
    "withdrawal",
    accountOf.agent(agentId),
    accountOf.held(withdrawalId),
    amount,
  );
}

/** Builds the postings of a paid withdrawal, which leaves the relay. */
export function buildPayoutPostings({
  withdrawalId,
  amount,
}: Omit<Payout, "agentId">): readonly Posting[] {
  return buildTransfer("withdrawal", accountOf.held(withdrawalId), EXTERNAL_ACCOUNT, amount);
}

/** Builds the postings that return a failed withdrawal to its agent. */
export function buildReturnPostings({ agentId, withdrawalId, amount }: Payout): readonly Posting[] {
  return buildTransfer(
    "withdrawal",
    accountOf.held(withdrawalId),
    accountOf.agent(agentId),
    amount,
  );
}

/** Returns whether the exact sum of the postings is zero, for any number of them. */
export function isBalanced(postings: Iterable<Posting>): boolean {
  let sum = 0n;
  for (const { amount } of postings) sum += BigInt(amount);
  return sum === 0n;
}

/** Returns the balances after the postings in a new map; a missing account has the balance 0. */
export function applyPostings(
  balances: ReadonlyMap<Account, Micro>,
  postings: Iterable<Posting>,
): Map<Account, Micro> {
  const after = new Map(balances);
  for (const { account, amount } of postings) {
    after.set(account, asMicro((after.get(account) ?? ZERO) + amount));
  }
  return after;
}

interface Hold {
  readonly payerId: string;
  readonly taskId: string;
  readonly amount: Micro;
}

interface Payout {
  readonly agentId: string;
  readonly withdrawalId: string;
  readonly amount: Micro;
}

/**
 * Builds the postings that move an amount from one account to another; none for an amount of 0. Throws a
 * RangeError for a negative amount.
 */
export function buildTransfer(
  type: TransactionType,
  from: Account,
  to: Account,
  amount: Micro,
): readonly Posting[] {
  // A free task or an empty hold moves nothing.
  if (assertNotNegative(amount) === 0) return [];
  return [
    { account: from, type, amount: negate(amount) },
    { account: to, type, amount },
  ];
}
