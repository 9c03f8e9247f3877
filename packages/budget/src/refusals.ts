/** Why a number at the edge is not an amount of money; see `parseAmount`. */
export type AmountCode =
  | "money.not_a_number"
  | "money.not_positive"
  | "money.too_large"
  | "money.too_many_decimals";

/** Why an agent's balance may not become what a movement would make it; see `checkBalance`. */
export type BalanceCode = "budget.insufficient" | "money.balance_limit";

/** Every code this package refuses with. */
export type BudgetCode = AmountCode | BalanceCode;
