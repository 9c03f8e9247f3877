import { RECEIPT_LIMITS } from "../limits.ts";

/**
 * The time during which a key is its agent's, in ms since the epoch by the clock of the relay that stores
 * it.
 */
export interface KeyValidity {
  readonly validFrom: number;
  /** Null while the key is in use. */
  readonly validUntil: number | null;
  /**
   * Whether the key belongs to a device. Devices are revoked because they were lost, so such a key ends at
   * once.
   */
  readonly isDevice: boolean;
}

/**
 * A key as relays store it and evidence bundles list it, with the `device_id` of a device's key. Times are
 * in ms since the epoch, by the clock of the relay that stores it.
 */
export interface DatedKey {
  readonly valid_from: number;
  readonly valid_until: number | null;
  readonly device_id?: string | null;
}

/**
 * The times of a receipt, in ms since the epoch; all but `completedAt` by the clock of the relay that
 * received it.
 */
export interface ReceiptTimes {
  /** The time at which the task was submitted. */
  readonly submittedAt: number;
  /** The time of completion that the signer states, by the signer's clock. */
  readonly completedAt: number;
  /** The time at which the receipt arrived. */
  readonly receivedAt: number;
}

/**
 * Returns whether a key counts for a receipt. An agent's former key counts if the task was submitted and
 * the receipt completed before the key ended; completion may be five minutes later, to allow for clock skew
 * and for work in progress. A device's key counts until it is revoked. Relays that accept receipts and
 * verifiers of evidence both use this rule, so that no relay pays for a receipt that its own evidence calls
 * invalid.
 */
export function isKeyInForce(validity: KeyValidity, times: ReceiptTimes): boolean {
  const { validFrom, validUntil, isDevice } = validity;
  const { submittedAt, completedAt, receivedAt } = times;
  if (validFrom > receivedAt + RECEIPT_LIMITS.clockSkewMs) return false;
  if (validUntil === null) return true;
  if (isDevice) return receivedAt < validUntil;
  // A receipt cannot be completed after it arrived, so a later time comes from a fast clock of the signer.
  const completed = Math.min(completedAt, receivedAt);
  return submittedAt < validUntil && completed < validUntil + RECEIPT_LIMITS.formerKeySkewMs;
}

/** Returns the keys that count for a receipt by `isKeyInForce`, in their order. */
export function filterKeysInForce<Key extends DatedKey>(
  keys: readonly Key[],
  times: ReceiptTimes,
): readonly Key[] {
  return keys.filter(({ valid_from, valid_until, device_id }) => {
    const isDevice = typeof device_id === "string";
    return isKeyInForce({ validFrom: valid_from, validUntil: valid_until, isDevice }, times);
  });
}

/**
 * Returns the keys that may have signed a verdict or a decision with the timestamp `statedAt`, in their
 * order. Relays accept timestamps up to five minutes from their own clock, so every key, including a
 * device's, also counts for five minutes before its start and after its end. In the millisecond of a key's
 * end, a statement may still precede that end.
 */
export function filterKeysAt<Key extends DatedKey>(
  keys: readonly Key[],
  statedAt: number,
): readonly Key[] {
  const { statementSkewMs } = RECEIPT_LIMITS;
  return keys.filter(
    ({ valid_from, valid_until }) =>
      valid_from <= statedAt + statementSkewMs &&
      (valid_until === null || statedAt <= valid_until + statementSkewMs),
  );
}
