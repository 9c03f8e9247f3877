import { RECEIPT_LIMITS } from "../limits.ts";

/** When a key was its agent's: in ms by the clock of the relay that keeps it, `validUntil` null while it is. */
export interface KeyValidity {
  readonly validFrom: number;
  readonly validUntil: number | null;
  /** Whether it is a device's. A device is revoked because it was lost, so its key ends at once. */
  readonly isDevice: boolean;
}

/** The times of a receipt, in ms; all but `completedAt` by the clock of the relay that took it. */
export interface ReceiptTimes {
  /** When the task was submitted. */
  readonly submittedAt: number;
  /** When the signer says that it was done. */
  readonly completedAt: number;
  /** When the receipt came. */
  readonly receivedAt: number;
}

/**
 * Whether a key counts for a receipt. A key that its agent left counts for a task that was submitted
 * before its end and a receipt completed before its end, with five minutes for clocks that disagree and for
 * work that was being signed; a device's key until it is revoked. Relays take receipts, and verifiers judge
 * evidence, by this one rule: else a relay pays for what its own evidence calls invalid.
 */
export function isKeyInForce(validity: KeyValidity, times: ReceiptTimes): boolean {
  const { validFrom, validUntil, isDevice } = validity;
  const { submittedAt, completedAt, receivedAt } = times;
  if (validFrom > receivedAt + RECEIPT_LIMITS.clockSkewMs) return false;
  if (validUntil === null) return true;
  if (isDevice) return receivedAt < validUntil;
  // Nothing is completed after it came, whatever a clock that is ahead says.
  const completed = Math.min(completedAt, receivedAt);
  return submittedAt < validUntil && completed < validUntil + RECEIPT_LIMITS.formerKeySkewMs;
}
