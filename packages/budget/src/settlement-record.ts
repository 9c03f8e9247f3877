import { accountOf, FEE_ACCOUNT, type Account } from "./account.ts";
import { isBalanced, type Posting, type TransactionType } from "./posting.ts";

/** The parties and amounts of a settlement record, in micro-units. */
export interface RecordedSettlement {
  readonly amount: number;
  readonly fee: number;
  readonly net: number;
  /** An agent id, or `relay:<relay id>`. */
  readonly payerId: string;
  readonly payeeId: string;
}

/**
 * Returns whether the postings of a settlement match its record: they sum to zero, the fee and the net
 * amount were credited, and a payer of this relay was charged the whole amount. The payment of a task
 * forwarded to another relay is in that relay's account instead of the payee's.
 */
export function matchesPostings(
  { amount, fee, net, payerId, payeeId }: RecordedSettlement,
  postings: readonly Posting[],
): boolean {
  const sum = (type: TransactionType, matches: (posting: Posting) => boolean) =>
    postings.reduce((all, posting) => {
      return posting.type === type && matches(posting) ? all + posting.amount : all;
    }, 0);
  const payer = accountOf.party(payerId);
  const isPayee = (account: Account) =>
    account === accountOf.party(payeeId) || account.startsWith("peer:");
  const charge = payer.startsWith("agent:") ? amount : 0;
  return (
    isBalanced(postings) &&
    amount === fee + net &&
    sum("fee", ({ account }) => account === FEE_ACCOUNT) === fee &&
    sum("settlement_credit", ({ account, amount: moved }) => moved > 0 && isPayee(account)) ===
      net &&
    sum("settlement_debit", () => true) === 0 - charge &&
    postings.every(({ type, account }) => type !== "settlement_debit" || account === payer)
  );
}
