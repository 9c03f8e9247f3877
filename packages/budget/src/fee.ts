import { parseAmount } from "./amount.ts";
import { asMicro, MICRO, scaleHalfUp, type Micro } from "./money.ts";

/** An amount divided into the relay's fee and the rest, in micro-units; `fee + net` is the amount. */
export interface FeeSplit {
  readonly fee: Micro;
  readonly net: Micro;
}

/** Returns whether a value is a fee rate: a number from 0 to below 1 with at most 6 decimals. */
export function isFeeRate(value: unknown): value is number {
  return parsePpm(value) !== null;
}

/** Converts a fee rate such as 0.05 to integer parts per million; throws a RangeError unless `isFeeRate`. */
export function rateToPpm(rate: number): number {
  const ppm = parsePpm(rate);
  if (ppm === null) {
    throw new RangeError("rate must be at least 0 and below 1 with at most 6 decimals");
  }
  return ppm;
}

/**
 * Splits an amount into the relay's fee, rounded half up to a micro-unit, and the rest. Throws a
 * RangeError for a negative amount and unless `isFeeRate` (specification, "Budget").
 */
export function splitFee(amount: Micro, rate: number): FeeSplit {
  const fee = scaleHalfUp(amount, rateToPpm(rate), MICRO);
  // The rest is not rounded separately, because two roundings could lose or create a micro-unit.
  return { fee, net: asMicro(amount - fee) };
}

/**
 * Computes the fees of a chain of relays, each on the amount that the previous relay forwards, and the
 * remainder for the agent. Fees and remainder add up to the budget, in micro-units (specification,
 * "Federation", settlement).
 */
export function computeFeeChain(
  budget: Micro,
  rate: number,
  hops: number,
): { readonly fees: readonly Micro[]; readonly agentReceives: Micro } {
  if (!Number.isSafeInteger(hops) || hops < 0) {
    throw new RangeError("hops must be a whole number of at least 0");
  }
  const fees: Micro[] = [];
  let agentReceives = budget;
  for (let hop = 0; hop < hops; hop += 1) {
    const { fee, net } = splitFee(agentReceives, rate);
    fees.push(fee);
    agentReceives = net;
  }
  return { fees, agentReceives };
}

function parsePpm(value: unknown): number | null {
  const parsed = parseAmount(value, { allowZero: true });
  return parsed.ok && parsed.amount < MICRO ? parsed.amount : null;
}
