import { limits } from "@agent/wire";
import { buildUnavailableLookup, type UnavailableLookup } from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";

/** The origin of a look-up of a caller. */
export interface LookupOrigin {
  /** Whether the caller's token was verified with a key that the relay stated before. */
  readonly isProven: boolean;
  /** The network that the token came from. */
  readonly network: string;
}

export interface SentLookup extends LookupOrigin {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * The look-ups of callers in one window. Together they leave a sixth of what the relay lets this
 * server read to its own work.
 */
export const LOOKUP_LIMITS = {
  proven: limits.tiers.read / 2,
  unproven: limits.tiers.read / 3,
} as const;

/**
 * Returns whether another look-up may be sent after the recent ones. One network gets as many as it
 * leaves to the others, so that no flood from one takes all.
 */
export function canLookUp(
  recent: readonly LookupOrigin[],
  { isProven, network }: LookupOrigin,
): boolean {
  const alike = recent.filter((one) => one.isProven === isProven);
  const own = alike.filter((one) => one.network === network);
  const limit = isProven ? LOOKUP_LIMITS.proven : LOOKUP_LIMITS.unproven;
  return own.length < limit - alike.length;
}

/** Limits what callers can make this server ask its relay, which counts it as the server's own work. */
export interface LookupBudget {
  /** Counts a look-up; the refusal says when another may be sent. */
  take(origin: LookupOrigin): UnavailableLookup | undefined;
}

export function createLookupBudget(runtime: Pick<Runtime, "now">): LookupBudget {
  const windowMs = limits.rateWindowMs;
  let sent: readonly SentLookup[] = [];

  return {
    take(origin) {
      const now = runtime.now();
      // After the clock was set back, later look-ups would count for too long.
      sent = sent.filter(({ at }) => at > now - windowMs && at <= now);
      if (canLookUp(sent, origin)) {
        sent = [...sent, { ...origin, at: now }];
        return undefined;
      }
      const oldest = sent.find((one) => one.isProven === origin.isProven)?.at ?? now;
      return buildUnavailableLookup(Math.ceil((oldest + windowMs - now) / 1_000));
    },
  };
}
