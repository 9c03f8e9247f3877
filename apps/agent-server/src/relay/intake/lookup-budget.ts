import { listCountedNetworks, type CountedNetwork, type NetworkSize } from "@agent/ip-networks";
import { limits } from "@agent/wire";
import { buildUnavailableLookup, type UnavailableLookup } from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";

/** The origin of a look-up of a caller. */
export interface LookupOrigin {
  /** Whether the caller's token was verified with a key that the relay stated before. */
  readonly isProven: boolean;
  /** The address of the client that sent the token. */
  readonly address: string;
}

/** A look-up as it is counted. */
export interface CountedLookup {
  readonly isProven: boolean;
  readonly networks: readonly CountedNetwork[];
}

interface SentLookup extends CountedLookup {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * The look-ups of callers in one window. Together they leave a sixth of what the relay lets this
 * server read to its own work.
 */
const LOOKUP_LIMITS = {
  proven: limits.tiers.read / 2,
  unproven: limits.tiers.read / 3,
} as const;

/**
 * The tenths that a network gets of the look-ups that others left. A /48 of IPv6, the most that one line holds,
 * gets as many as an address of IPv4. A smaller network gets less, so that neither a host nor a line takes all that
 * its neighbours in the same /48 have.
 */
const TENTHS: Readonly<Record<NetworkSize, number>> = {
  address: 5,
  "/64": 3,
  "/56": 4,
  "/48": 5,
};

/**
 * Returns whether another look-up may be sent after the recent ones. Each network of the client must have some
 * left, so that no flood from one takes all.
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
  /** Counts a look-up; the refusal says when another may be sent. */
  take(origin: LookupOrigin): UnavailableLookup | undefined;
}

export function createLookupBudget(runtime: Pick<Runtime, "now">): LookupBudget {
  const windowMs = limits.rateWindowMs;
  let sent: readonly SentLookup[] = [];

  return {
    take({ isProven, address }) {
      const now = runtime.now();
      const lookup = { isProven, networks: listCountedNetworks(address) };
      // After the clock was set back, later look-ups would count for too long.
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
