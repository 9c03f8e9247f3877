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
export type TransactionType = (typeof transactionTypes)[number];

/** One side of a movement: `amount` micro-units into the account, or out of it when negative. */
export interface Posting {
  readonly account: Account;
  readonly type: TransactionType;
  readonly amount: Micro;
}

/** Money comes in from outside. */
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
 * A deposit is taken back from outside, as a refunded or disputed card payment is: a `deposit` with a
 * negative amount. It is the one movement that an agent's account need not cover.
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

/** Whether a posting takes a deposit back. */
export function isReversal({ account, type, amount }: Posting): boolean {
  return type === "deposit" && amount < 0 && account.startsWith("agent:");
}

/** The payer's money is set aside for a task. */
export function buildHoldPostings({ payerId, taskId, amount }: Hold): readonly Posting[] {
  return buildTransfer("allocation_hold", accountOf.party(payerId), accountOf.held(taskId), amount);
}

/** The whole hold of a task goes back to its payer. */
export function buildReleasePostings({ payerId, taskId, amount }: Hold): readonly Posting[] {
  return buildTransfer(
    "allocation_release",
    accountOf.held(taskId),
    accountOf.party(payerId),
    amount,
  );
}

/**
 * The whole hold goes back to the payer, who then pays the charge: the payee has it less the fee,
 * the relay has the fee. In this order no balance dips below 0 on the way. Throws RangeError unless
 * 0 <= fee <= charge <= locked.
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

/** Money that an agent takes out is set aside until the operator has paid it. */
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

/** What was set aside for a withdrawal has left the relay. */
export function buildPayoutPostings({
  withdrawalId,
  amount,
}: Omit<Payout, "agentId">): readonly Posting[] {
  return buildTransfer("withdrawal", accountOf.held(withdrawalId), EXTERNAL_ACCOUNT, amount);
}

/** What was set aside for a withdrawal that failed goes back to its agent. */
export function buildReturnPostings({ agentId, withdrawalId, amount }: Payout): readonly Posting[] {
  return buildTransfer(
    "withdrawal",
    accountOf.held(withdrawalId),
    accountOf.agent(agentId),
    amount,
  );
}

/** Whether the postings sum to zero, exactly, however many they are. */
export function isBalanced(postings: Iterable<Posting>): boolean {
  let sum = 0n;
  for (const { amount } of postings) sum += BigInt(amount);
  return sum === 0n;
}

/** The balances after the postings, in a new map; an account that is not in the map has nothing. */
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

function buildTransfer(
  type: TransactionType,
  from: Account,
  to: Account,
  amount: Micro,
): readonly Posting[] {
  // A free task and an empty hold move nothing, and nothing is written for them.
  if (assertNotNegative(amount) === 0) return [];
  return [
    { account: from, type, amount: negate(amount) },
    { account: to, type, amount },
  ];
}
