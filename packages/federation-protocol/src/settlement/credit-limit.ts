import { asMicro, type Micro } from "@agent/budget";
import { sumUnpaidResults } from "@agent/wire";
import { type ClearingCode, type FederationRefusal, refuse } from "../refusals.ts";

/**
 * A relay's account with one peer, in micro-units. The holds for the peer's running tasks are already
 * deducted from the balance, so its debt is always counted in full.
 */
export interface ClearingLine {
  /**
   * The balance of the account `peer:<relay id>`: positive if this relay owes the peer, negative if
   * the peer owes it.
   */
  readonly balance: Micro;
  /** The amount that open forwards to the peer would add to the balance. */
  readonly payable: Micro;
  readonly limit: Micro;
  /**
   * The amount that the peer has defaulted on (`getDefaultedAmount`), which is no longer deducted from the
   * balance.
   */
  readonly defaulted?: Micro;
  /**
   * The value of results that the peer neither answered nor settled before their holds expired
   * (`getUndecidedAmount`). It is not a debt yet, but uses up credit.
   */
  readonly undecided?: Micro;
  /**
   * The value of completed work that the peer refused when it may have been too late (`getRefusedAmount`). It
   * uses up credit as far as `sumUnpaidResults` says.
   */
  readonly refused?: Micro;
}

/** The members of an account that determine the peer's debt. */
export type PeerDebt = Pick<
  ClearingLine,
  "balance" | "limit" | "defaulted" | "undecided" | "refused"
>;

/** Returns the peer's debt, including running tasks and defaults; negative if it has prepaid. */
export function getExposure({
  balance,
  defaulted,
}: Pick<PeerDebt, "balance" | "defaulted">): Micro {
  return asMicro((defaulted ?? 0) - balance);
}

/** Checks whether the peer may owe `amount` more. Refused: `clearing.limit_exceeded`. */
export function checkReceivable(
  line: PeerDebt,
  amount: Micro,
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  const unpaid = sumUnpaidResults(line);
  if (amount === 0 || getExposure(line) + unpaid + amount <= line.limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/** Returns whether `added` raised the sum of refused results above the limit, so that they begin to use up credit. */
export function isLimitPassed({
  refused,
  added,
  limit,
}: {
  readonly refused: number;
  readonly added: number;
  readonly limit: number;
}): boolean {
  const isBeyond = (sum: number): boolean => sumUnpaidResults({ limit, refused: sum }) > 0;
  return isBeyond(refused) && !isBeyond(refused - added);
}

/**
 * Checks whether this relay may promise the peer `amount` more. A peer without credit gets only free tasks,
 * even though this relay would be the debtor. Refused: `clearing.limit_exceeded`.
 */
export function checkPayable(
  { balance, payable, limit }: Pick<ClearingLine, "balance" | "payable" | "limit">,
  amount: Micro,
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  if (amount === 0 || balance + payable + amount <= limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/**
 * Checks whether an external payment may be recorded; the caller ensures that each reference is recorded
 * once. To pay more than is owed is to give credit, so it must fit the limit; a received payment may always
 * be recorded. Refused: `clearing.limit_exceeded`.
 */
export function checkExternalPayment(
  line: PeerDebt,
  { direction, amount }: { readonly direction: "paid" | "received"; readonly amount: Micro },
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  return direction === "paid" ? checkReceivable(line, amount) : { ok: true };
}
