import { accountOf, FEE_ACCOUNT } from "./account.ts";
import { asMicro, negate, assertNotNegative, type Micro } from "./money.ts";
import type { Posting } from "./posting.ts";

/**
 * Builds the postings of an intermediate relay that was paid for a task but cannot pay the next relay. It
 * retains the remainder for its operator to pay out, because postings on the account of another relay need
 * that relay's consent.
 */
export function buildRetentionPostings({
  taskId,
  amount,
}: {
  readonly taskId: string;
  readonly amount: Micro;
}): readonly Posting[] {
  if (assertNotNegative(amount) === 0) return [];
  return [
    { account: accountOf.held(taskId), type: "settlement_credit", amount: negate(amount) },
    { account: FEE_ACCOUNT, type: "settlement_credit", amount: asMicro(amount) },
  ];
}
