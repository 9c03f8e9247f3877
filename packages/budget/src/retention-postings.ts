import { accountOf, FEE_ACCOUNT } from "./account.ts";
import { asMicro, negate, assertNotNegative, type Micro } from "./money.ts";
import type { Posting } from "./posting.ts";

/**
 * A relay in the middle was paid for a task and could not pay on: it keeps the rest for its operator
 * to hand over, because nothing moves on another relay's account without that relay.
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
