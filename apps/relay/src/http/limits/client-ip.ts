import {
  canonicalizeAddress,
  createAddressMatcher,
  toCountedNetwork,
} from "../egress/ip-address.ts";

/** Returns the address or IPv6 network by which a request is counted, from its socket and X-Forwarded-For. */
export type ClientIpResolver = (
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
) => string;

/** Trusts X-Forwarded-For only from `trustedProxies` (addresses and CIDR ranges). */
export function createClientIpResolver(trustedProxies: readonly string[]): ClientIpResolver {
  const findAddress = createAddressFinder(trustedProxies);
  return (...about) => toCountedNetwork(findAddress(...about));
}

function createAddressFinder(trustedProxies: readonly string[]): ClientIpResolver {
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
