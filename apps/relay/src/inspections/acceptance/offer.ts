import type { OfferedAcceptance } from "@agent/wire";

/** The inspection that a submission asks for. */
export interface WantedTerms {
  /** Undefined for the longest that the executor offers. */
  readonly windowMs: number | undefined;
  /** Null for the operator. */
  readonly arbiterId: string | null;
}

/** Returns whether a listing offers an inspection of this length. */
export function isWindowOffered(
  offered: OfferedAcceptance | undefined,
  { windowMs }: Pick<WantedTerms, "windowMs">,
): offered is OfferedAcceptance {
  return offered !== undefined && (windowMs === undefined || windowMs <= offered.window_ms);
}

/** Returns whether a listing offers an inspection of this length with this arbiter. */
export function isOffered(
  offered: OfferedAcceptance | undefined,
  wanted: WantedTerms,
): offered is OfferedAcceptance {
  const { arbiterId } = wanted;
  return (
    isWindowOffered(offered, wanted) && (arbiterId === null || offered.arbiters.includes(arbiterId))
  );
}
