import { canonicalizeAddress, createAddressMatcher } from "./ip-address.ts";

/** Returns the canonical address of a request's client, or "unknown" if its socket is closed. */
export type FindClientAddress = (
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
) => string;

/**
 * Creates a function that trusts X-Forwarded-For only from `trustedProxies` (valid addresses and CIDR
 * ranges). It returns the last entry that is not itself a trusted proxy, because clients can write anything
 * further to the left. Throws TypeError for a text that is not an address or a range.
 */
export function createClientAddressFinder(trustedProxies: readonly string[]): FindClientAddress {
  const isTrusted = createAddressMatcher(trustedProxies);
  return (socketAddress, forwardedFor) => {
    // A closed socket has no address.
    const socket = canonicalizeAddress(socketAddress ?? "") ?? "unknown";
    if (trustedProxies.length === 0 || forwardedFor === undefined) return socket;
    if (socket === "unknown" || !isTrusted(socket)) return socket;
    for (const entry of forwardedFor.split(",").toReversed()) {
      const address = canonicalizeAddress(withoutPort(entry.trim()));
      // Entries to the left of an invalid one were not written by a trusted proxy.
      if (address === undefined) return socket;
      if (!isTrusted(address)) return address;
    }
    return socket;
  };
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(entry);
  return bracketed?.[1] ?? entry.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
}
