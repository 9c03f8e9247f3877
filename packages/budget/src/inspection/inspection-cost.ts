import { splitFee } from "../fee.ts";
import type { Micro } from "../money.ts";

/** The amounts by which an inspection costs parties who belong together something, in micro-units. */
export interface InspectionStake {
  readonly due: Micro;
  /** The arbitration fee on `due`. */
  readonly fee: Micro;
  readonly platformFeeRate: number;
}

const LEAST_PART_OF_FEE = 10;

/**
 * Returns whether an inspection counts in the figures of its parties: the relay's fee for the due sum is at least a
 * tenth of the arbitration fee. Payer and executor may have one owner, who loses nothing but that fee, so without
 * it any number of accepted results would hide the rejected ones; now ten of them cost no less than a lost dispute.
 * Where the relay takes no fee at all, nothing separates such cases from others, and each one counts.
 */
export function countsForParties({ due, fee, platformFeeRate }: InspectionStake): boolean {
  return platformFeeRate === 0 || LEAST_PART_OF_FEE * splitFee(due, platformFeeRate).fee >= fee;
}
