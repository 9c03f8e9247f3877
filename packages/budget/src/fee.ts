import { parseAmount } from "./amount.ts";
import { asMicro, MICRO, scaleHalfUp, type Micro } from "./money.ts";

/**
 * An amount shared between a relay and whoever comes next, in micro-units; `fee + net` is the
 * amount.
 */
export interface FeeSplit {
  readonly fee: Micro;
  readonly net: Micro;
}

/** Whether a value is a fee rate: a number from 0 to below 1 with at most 6 decimals. */
export function isFeeRate(value: unknown): value is number {
  return parsePpm(value) !== null;
}

/**
 * A fee rate such as 0.05 as integer parts per million; throws RangeError where `isFeeRate` says
 * no.
 */
export function rateToPpm(rate: number): number {
  const ppm = parsePpm(rate);
  if (ppm === null) {
    throw new RangeError("a fee rate must be from 0 to below 1 with at most 6 decimals");
  }
  return ppm;
}

/**
 * The relay's fee on an amount, rounded half up to a micro-unit, and what remains.
 * Throws RangeError on a negative amount and where `isFeeRate` says no (specification, "Budget").
 */
export function splitFee(amount: Micro, rate: number): FeeSplit {
  const fee = scaleHalfUp(amount, rateToPpm(rate), MICRO);
  // Never rounded on its own: two roundings would lose or make a micro-unit.
  return { fee, net: asMicro(amount - fee) };
}

/**
 * The fees of relays in a row, each taken from what the one before forwards, and what the agent
 * receives; all of it adds up to the budget, in micro-units (specification, "Federation",
 * settlement).
 */
export function computeFeeChain(
  budget: Micro,
  rate: number,
  hops: number,
): { readonly fees: readonly Micro[]; readonly agentReceives: Micro } {
  if (!Number.isSafeInteger(hops) || hops < 0) {
    throw new RangeError("hops must be a whole number from 0");
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
