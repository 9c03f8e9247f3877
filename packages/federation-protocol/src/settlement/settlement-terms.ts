import { computeFeeChain, type Micro, splitFee } from "@agent/budget";
import { FEDERATION_LIMITS } from "../limits.ts";

/** What a relay charges or receives for a task, and how it is shared. */
export interface SettlementTerms {
  readonly gross: Micro;
  readonly feeRate: number;
  readonly fee: Micro;
  /** What the next relay, or the agent, receives. */
  readonly net: Micro;
}

/** The shares of `gross` under a relay's fee rate (specification, "Settlement"). */
export function computeTerms(gross: Micro, feeRate: number): SettlementTerms {
  return { gross, feeRate, ...splitFee(gross, feeRate) };
}

/**
 * The least that a relay has to be paid for an agent of that price after `hops` relays took their
 * fee: at least one did, and no more than 3 are believed.
 */
export function computeMinPayment(price: Micro, feeRate: number, hops: number): Micro {
  const passed = Math.min(Math.max(1, hops), FEDERATION_LIMITS.maxHops);
  return computeFeeChain(price, feeRate, passed).agentReceives;
}
