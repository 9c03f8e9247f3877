import { asMicro, type Micro } from "@agent/budget";
import { type ClearingCode, type FederationRefusal, refuse } from "../refusals.ts";

/**
 * A relay's account with one peer, in micro-units. The peer's payments for tasks that still run are
 * held out of the balance, so what the peer owes is always counted in full.
 */
export interface ClearingLine {
  /** Of the account `peer:<relay id>`: above 0 the relay owes the peer, below it is owed. */
  readonly balance: Micro;
  /** What the forwards to the peer that are still open would add to the balance. */
  readonly payable: Micro;
  readonly limit: Micro;
  /** What the peer has defaulted on (`getDefaultedAmount`): it is held out of the balance no longer. */
  readonly defaulted?: Micro;
}

/** What the rules about the peer's debts need to know of its account. */
export type PeerDebt = Pick<ClearingLine, "balance" | "limit" | "defaulted">;

/**
 * What the peer owes, with what it would owe for running tasks and what it has defaulted on;
 * negative: it has paid ahead.
 */
export function getExposure({ balance, defaulted }: Omit<PeerDebt, "limit">): Micro {
  return asMicro((defaulted ?? 0) - balance);
}

/** Whether the peer may come to owe `amount` more. Refused: `clearing.limit_exceeded`. */
export function checkReceivable(
  line: PeerDebt,
  amount: Micro,
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  if (amount === 0 || getExposure(line) + amount <= line.limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/**
 * Whether this relay may promise `amount` more to the peer: a peer without credit is sent free tasks
 * only, whoever would be the debtor. Refused: `clearing.limit_exceeded`.
 */
export function checkPayable(
  { balance, payable, limit }: Omit<ClearingLine, "defaulted">,
  amount: Micro,
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  if (amount === 0 || balance + payable + amount <= limit) return { ok: true };
  return refuse("clearing.limit_exceeded");
}

/**
 * Whether a payment outside may be recorded; once per reference is the caller's to see to. Paying
 * more than is owed is credit like any other; money that came may always be recorded. Refused:
 * `clearing.limit_exceeded`.
 */
export function checkExternalPayment(
  line: PeerDebt,
  { direction, amount }: { readonly direction: "paid" | "received"; readonly amount: Micro },
): { readonly ok: true } | FederationRefusal<ClearingCode> {
  return direction === "paid" ? checkReceivable(line, amount) : { ok: true };
}
