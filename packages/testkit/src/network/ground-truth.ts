import type { Micro } from "@agent/budget";

/** A payment between two relays on their bank statements. */
export interface BankPayment {
  readonly debtorId: string;
  readonly creditorId: string;
  readonly amount: Micro;
  readonly reference: string;
  /** When the creditor's operator has recorded it too, on the clock of the simulation. */
  recordedAt: number | null;
}

/** No message takes longer to its receiver. */
const MAX_DELIVERY_MS = 120_000;

/** What happened in a run, apart from what its relays keep or forget of it. */
export class GroundTruth {
  /** Which relay's operator has removed which peer and has not admitted it again. */
  readonly #removals = new Set<string>();
  /** Relays that were restored from a backup. */
  readonly restored = new Set<string>();
  /** Tasks of which a restored relay has lost a change. */
  readonly lost = new Set<string>();
  /** Hashes of receipts that nobody but their forger would vouch for. */
  readonly forged = new Set<string>();
  readonly payments: BankPayment[] = [];
  /** Tasks whose settlement was once refused because the peer had no credit left for it. */
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
   * Whether the books of two relays may differ at `now`: after a restore, and around a payment that one
   * has recorded and the other has not, or not before it stated its position.
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
