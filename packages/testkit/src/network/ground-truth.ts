import type { Micro } from "@agent/budget";

/** A payment between two relays, as on their bank statements. */
export interface BankPayment {
  readonly debtorId: string;
  readonly creditorId: string;
  readonly amount: Micro;
  readonly reference: string;
  /** The time at which the creditor's operator also recorded it, on the simulation's clock. */
  recordedAt: number | null;
}

/** The maximum time until a message reaches its receiver. */
const MAX_DELIVERY_MS = 120_000;

/** The events of a run, recorded independently of the state that its relays store. */
export class GroundTruth {
  /** The removals by operators that are still in force. */
  readonly #removals = new Set<string>();
  /** Relays that were restored from a backup. */
  readonly restored = new Set<string>();
  /** Tasks for which a restored relay has lost a change. */
  readonly lost = new Set<string>();
  /** Hashes of forged receipts. */
  readonly forged = new Set<string>();
  readonly payments: BankPayment[] = [];
  /** Tasks whose settlement was once refused because the peer had no credit left. */
  readonly shortOfCredit = new Set<string>();
  /** Tasks whose default an operator has cleared. */
  readonly cleared = new Set<string>();

  remove(relayId: string, peerId: string): void {
    this.#removals.add(`${relayId} ${peerId}`);
  }

  admit(relayId: string, peerId: string): void {
    this.#removals.delete(`${relayId} ${peerId}`);
  }

  isRemoved(relayId: string, peerId: string): boolean {
    return this.#removals.has(`${relayId} ${peerId}`);
  }

  /**
   * Returns whether the books of two relays may differ at `now`: after a restore, and around a payment that
   * only one of them has recorded, or that one recorded after it had stated its position.
   */
  mayDiffer(oneId: string, otherId: string, now: number): boolean {
    const isBetween = ({ debtorId, creditorId }: BankPayment) =>
      (debtorId === oneId && creditorId === otherId) ||
      (debtorId === otherId && creditorId === oneId);
    return (
      this.restored.has(oneId) ||
      this.restored.has(otherId) ||
      this.payments.some((payment) => {
        const endsAt = (payment.recordedAt ?? Infinity) + MAX_DELIVERY_MS;
        return now <= endsAt && isBetween(payment);
      })
    );
  }
}
