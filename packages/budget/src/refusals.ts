/** Why a number at the edge is not an amount of money; see `parseAmount`. */
export type AmountCode =
  | "money.not_a_number"
  | "money.not_positive"
  | "money.too_large"
  | "money.too_many_decimals";

/** Why an agent's balance may not become what a movement would make it; see `checkBalance`. */
export type BalanceCode = "budget.insufficient" | "money.balance_limit";

/** Why a movement is not covered by its account; see `checkFunds`. */
export type FundsCode = "budget.insufficient" | "account.overdrawn";

/** Why money that came from a card is not paid out; see `moveCardMoney`. */
export type CardCode = "budget.card_hold";

/** Every code this package refuses with. */
export type BudgetCode = AmountCode | BalanceCode | FundsCode | CardCode;
