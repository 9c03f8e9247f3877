import { computeFeeChain, type Micro, splitFee } from "@agent/budget";
import { FEDERATION_LIMITS } from "../limits.ts";

/** The amount that a relay charges or receives for a task, and its shares. */
export interface SettlementTerms {
  readonly gross: Micro;
  readonly feeRate: number;
  readonly fee: Micro;
  /** The amount that the next relay or the agent receives. */
  readonly net: Micro;
}

/** Computes the shares of `gross` under a relay's fee rate (specification, "Settlement"). */
export function computeTerms(gross: Micro, feeRate: number): SettlementTerms {
  return { gross, feeRate, ...splitFee(gross, feeRate) };
}

/**
 * Computes the least payment that a relay accepts for an agent of that price after `hops` relays
 * deducted their fees. At least one did, and at most 3 are accepted.
 */
export function computeMinPayment(price: Micro, feeRate: number, hops: number): Micro {
  const passed = Math.min(Math.max(1, hops), FEDERATION_LIMITS.maxHops);
  return computeFeeChain(price, feeRate, passed).agentReceives;
}
