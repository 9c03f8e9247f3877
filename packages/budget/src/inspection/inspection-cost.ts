import { splitFee } from "../fee.ts";
import { asMicro, MICRO, type Micro } from "../money.ts";
import { asMillionths, computePart } from "./millionths.ts";

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

const HALF = asMillionths(MICRO / 2);

/**
 * Computes the least that the parties of a dispute lose together to the relay once the operator is in charge of it, in
 * micro-units: the fee for half of the due sum if it stays undecided, or half of the arbitration fee if one of them
 * gives up. Everything else costs more.
 */
export function computeLeastLoss({ due, fee, platformFeeRate }: InspectionStake): Micro {
  const undecided = splitFee(computePart(due, HALF), platformFeeRate).fee;
  return asMicro(Math.min(undecided, Math.ceil(fee / 2)));
}
