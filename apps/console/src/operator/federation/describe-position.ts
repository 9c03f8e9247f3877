import { showMoney } from "../../shared/format/show-amount.ts";

/** Describes which relay owes the other; a position above 0 is what this relay owes. */
export function describePosition(position: number): string {
  if (position === 0) return "nothing owed";
  return position > 0 ? `we owe ${showMoney(position)}` : `owes us ${showMoney(-position)}`;
}
