import { asMicro, type Micro } from "@agent/budget";
import { type ClearingCode, type FederationRefusal, refuse } from "../refusals.ts";

/**
 * A relay's account with one peer, in micro-units. The peer's payments for running tasks are held
 * out of the balance, so the peer's debt is always counted in full.
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
   * The amount on which the peer has defaulted (`getDefaultedAmount`), which is no longer held out
   * of the balance.
   */
  readonly defaulted?: Micro;
  /**
   * The amount of results that the peer has not answered or settled before their holds expired
   * (`getUndecidedAmount`). It is no debt yet, but uses up credit.
   */
  readonly undecided?: Micro;
}

/** The members of an account that decide about the peer's debt. */
export type PeerDebt = Pick<ClearingLine, "balance" | "limit" | "defaulted" | "undecided">;

/**
 * Returns the peer's debt, including running tasks and defaults; negative if it has paid in
 * advance.
 */
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
  const { undecided = 0, limit } = line;
  if (amount === 0 || getExposure(line) + undecided + amount <= limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/**
 * Checks whether this relay may promise `amount` more to the peer. A peer without credit gets free
 * tasks only, even where this relay would be the debtor. Refused: `clearing.limit_exceeded`.
 */
export function checkPayable(
  { balance, payable, limit }: Pick<ClearingLine, "balance" | "payable" | "limit">,
  amount: Micro,
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  if (amount === 0 || balance + payable + amount <= limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/**
 * Checks whether an external payment may be recorded; the caller ensures that each reference is
 * recorded once. Paying more than is owed is credit and needs room; a received payment may always
 * be recorded. Refused: `clearing.limit_exceeded`.
 */
export function checkExternalPayment(
  line: PeerDebt,
  { direction, amount }: { readonly direction: "paid" | "received"; readonly amount: Micro },
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  return direction === "paid" ? checkReceivable(line, amount) : { ok: true };
}
