import { computeFeeChain, type Micro, splitFee } from "@agent/budget";
import { FEDERATION_LIMITS } from "../limits.ts";

/** The amount that a relay charges or receives for a task, and how it is split. */
export interface SettlementTerms {
  readonly gross: Micro;
  readonly feeRate: number;
  readonly fee: Micro;
  /** The amount that the next relay or the agent receives. */
  readonly net: Micro;
}

/** Splits `gross` at a relay's fee rate (specification, "Settlement"). */
export function computeTerms(gross: Micro, feeRate: number): SettlementTerms {
  return { gross, feeRate, ...splitFee(gross, feeRate) };
}

/**
 * Computes the minimum payment that a relay accepts for an agent of this price after `hops` relays have
 * deducted their fees; `hops` counts as at least 1 and at most 3.
 */
export function computeMinPayment(price: Micro, feeRate: number, hops: number): Micro {
  const passed = Math.min(Math.max(1, hops), FEDERATION_LIMITS.maxHops);
  return computeFeeChain(price, feeRate, passed).agentReceives;
}
