import { splitFee } from "../fee.ts";
import { asMicro, MICRO, type Micro } from "../money.ts";
import { asMillionths, computePart } from "./millionths.ts";

/** The amounts that decide how much an inspection costs two parties that belong together, in micro-units. */
export interface InspectionStake {
  readonly due: Micro;
  /** The fee of an arbitration about `due`. */
  readonly fee: Micro;
  readonly platformFeeRate: number;
}

const LEAST_PART_OF_FEE = 10;

/**
 * Returns whether an inspection counts in the statistics of its parties: the platform fee on the amount due
 * must be at least a tenth of the arbitration fee. If payer and executor have the same owner, that platform
 * fee is all that an accepted result costs them, so free acceptances could hide any number of rejections;
 * with this rule, ten of them cost as much as a lost dispute. On a relay without a platform fee such
 * inspections cannot be distinguished, so all count.
 */
export function countsForParties({ due, fee, platformFeeRate }: InspectionStake): boolean {
  return platformFeeRate === 0 || LEAST_PART_OF_FEE * splitFee(due, platformFeeRate).fee >= fee;
}

/** A decided dispute as far as its cost to its parties and its arbiter depends on it, in micro-units. */
export interface DecidedDispute extends InspectionStake {
  /** The sum that was paid to the executor. */
  readonly paid: Micro;
  /** The fees that the submitter left the relay as a payer, with all executors. */
  readonly submitterFees: number;
}

/**
 * Returns whether a decision counts for the agent that made it as an arbiter. If the arbiter has the same
 * owner as both parties, the arbitration fee costs nothing, and the relay keeps only its fee for the paid
 * sum, which is nothing if the executor lost everything. That fee must therefore be large enough
 * (`countsForParties`), or the submitter must be a customer: it left at least `leastFees` before.
 */
export function countsForArbiter(
  { paid, submitterFees, ...stake }: DecidedDispute,
  leastFees: Micro,
): boolean {
  if (countsForParties({ ...stake, due: paid })) return true;
  return countsForParties(stake) && submitterFees >= leastFees;
}

const HALF = asMillionths(MICRO / 2);

/**
 * Computes the minimum that the parties of a dispute together lose to the relay once the operator is in
 * charge of it, in micro-units: the platform fee on half of the amount due if the dispute stays undecided,
 * or half of the arbitration fee if a party gives up. Every other course costs more.
 */
export function computeLeastLoss({ due, fee, platformFeeRate }: InspectionStake): Micro {
  const undecided = splitFee(computePart(due, HALF), platformFeeRate).fee;
  return asMicro(Math.min(undecided, Math.ceil(fee / 2)));
}
