/** Refusals of a value that is not an amount of money; see `parseAmount`. */
export type AmountCode =
  | "money.not_a_number"
  | "money.not_positive"
  | "money.too_large"
  | "money.too_many_decimals";

/** Refusals of a balance after a movement; see `checkBalance`. */
export type BalanceCode = "budget.insufficient" | "money.balance_limit";

/** Refusals of a movement that its account does not cover; see `checkFunds`. */
export type FundsCode = "budget.insufficient" | "account.overdrawn";

/** Refusals of a withdrawal of card money; see `moveCardMoney`. */
export type CardCode = "budget.card_hold";

/** Refusals of an action in an inspection before payment; see `decideInspection`. */
export type InspectionCode =
  | "inspection.not_found"
  | "inspection.not_party"
  | "inspection.closed"
  | "inspection.wrong_state";

/** All refusal codes of this package. */
export type BudgetCode = AmountCode | BalanceCode | FundsCode | CardCode | InspectionCode;
