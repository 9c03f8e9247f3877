import { toDollars } from "@agent/budget";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";

type TrustSettings = Pick<Config, "trust" | "payments">;

/**
 * Returns the basis of this relay's levels for strangers: `unpriced` if faking a level costs nothing;
 * undefined if levels are backed by fees.
 */
function getTrustBasis({ trust, payments }: TrustSettings): "unpriced" | undefined {
  const isPriced = payments.platformFeeRate > 0 && trust.thresholds.verified > 0;
  return isPriced ? undefined : "unpriced";
}

/** Returns the member that states the basis beside a level. */
export function toTrustBasisMember(config: TrustSettings): { readonly trust_basis?: "unpriced" } {
  const trust_basis = getTrustBasis(config);
  return trust_basis === undefined ? {} : { trust_basis };
}

/** Warns the operator at the start if nothing separates an honest history from a made-up one. */
export function reportTrustBasis(config: TrustSettings, log: Log): void {
  if (getTrustBasis(config) === undefined) return;
  const { trust, payments } = config;
  log.warn("trust.unpriced", {
    fee_rate: payments.platformFeeRate,
    fees_verified: toDollars(trust.thresholds.verified),
    fees_trusted: toDollars(trust.thresholds.trusted),
  });
}
