import { computeArbitrationFee, fromMicro, MAX_AMOUNT, toMicro, asMicro } from "@agent/budget";

/**
 * Adds the arbitration fee to the price of a task that is inspected before payment, both in US dollars, for
 * use as `max_budget`; undefined if the sum exceeds the maximum amount. `rate` is the relay's `disputes`
 * member.
 */
export function addArbitrationFee(
  price: number,
  rate: { readonly fee_rate: number; readonly fee_min: number },
): number | undefined {
  const amount = toMicro(price);
  const feeMin = toMicro(rate.fee_min);
  const sum = amount + computeArbitrationFee(amount, { feeRate: rate.fee_rate, feeMin });
  return sum > MAX_AMOUNT ? undefined : fromMicro(asMicro(sum));
}
