import { listCountedNetworks, type CountedNetwork, type NetworkSize } from "@agent/ip-networks";
import { limits } from "@agent/wire";
import { buildUnavailableLookup, type UnavailableLookup } from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";

/** The origin of a caller's lookup. */
export interface LookupOrigin {
  /** Whether the caller's token was verified with a key that the relay stated before. */
  readonly isProven: boolean;
  /** The address of the client that sent the token. */
  readonly address: string;
}

/** A counted lookup. */
export interface CountedLookup {
  readonly isProven: boolean;
  readonly networks: readonly CountedNetwork[];
}

interface SentLookup extends CountedLookup {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * The lookups for callers in one window. In total they leave a sixth of the requests that the relay allows
 * this server for its own work.
 */
const LOOKUP_LIMITS = {
  proven: limits.tiers.read / 2,
  unproven: limits.tiers.read / 3,
} as const;

/**
 * The tenths that a network gets of the remaining lookups. A /48 of IPv6, the largest network of one line,
 * gets as many as an IPv4 address. A smaller network gets fewer, so that neither a host nor a line takes
 * everything from its neighbours in the same /48.
 */
const TENTHS: Readonly<Record<NetworkSize, number>> = {
  address: 5,
  "/64": 3,
  "/56": 4,
  "/48": 5,
};

/**
 * Returns whether another lookup may be sent after the recent ones. Each network of the client must have
 * some left, so that a flood from one network cannot use up all of them.
 */
export function canLookUp(
  recent: readonly CountedLookup[],
  { isProven, networks }: CountedLookup,
): boolean {
  const alike = recent.filter((one) => one.isProven === isProven);
  const limit = isProven ? LOOKUP_LIMITS.proven : LOOKUP_LIMITS.unproven;
  return networks.every(({ name, size }) => {
    const own = alike.filter((one) => one.networks.some((network) => network.name === name)).length;
    const others = alike.length - own;
    return own * 10 < TENTHS[size] * (limit - others);
  });
}

/** Limits what callers can make this server ask its relay, which counts it as the server's own work. */
export interface LookupBudget {
  /** Counts a lookup; the refusal states when another may be sent. */
  take(origin: LookupOrigin): UnavailableLookup | undefined;
}

export function createLookupBudget(runtime: Pick<Runtime, "now">): LookupBudget {
  const windowMs = limits.rateWindowMs;
  let sent: readonly SentLookup[] = [];

  return {
    take({ isProven, address }) {
      const now = runtime.now();
      const lookup = { isProven, networks: listCountedNetworks(address) };
      // After the clock was set back, lookups from the future would count for too long.
      sent = sent.filter(({ at }) => at > now - windowMs && at <= now);
      if (canLookUp(sent, lookup)) {
        sent = [...sent, { ...lookup, at: now }];
        return undefined;
      }
      const oldest = sent.find((one) => one.isProven === isProven)?.at ?? now;
      return buildUnavailableLookup(Math.ceil((oldest + windowMs - now) / 1_000));
    },
  };
}
