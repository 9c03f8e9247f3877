import { createAddressMatcher, canonicalizeAddress } from "../egress/ip-address.ts";

/** The address that a request is counted under, from its socket and its X-Forwarded-For. */
export type ClientIpResolver = (
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
) => string;

/** Believes X-Forwarded-For only from `trustedProxies` (addresses and CIDR ranges). */
export function createClientIpResolver(trustedProxies: readonly string[]): ClientIpResolver {
  const isTrusted = createAddressMatcher(trustedProxies);
  return (socketAddress, forwardedFor) => {
    // A socket that is already closed has no address.
    const socket = canonicalizeAddress(socketAddress ?? "") ?? "unknown";
    if (trustedProxies.length === 0 || forwardedFor === undefined) return socket;
    if (socket === "unknown" || !isTrusted(socket)) return socket;
    for (const entry of forwardedFor.split(",").toReversed()) {
      const address = canonicalizeAddress(withoutPort(entry.trim()));
      // What stands left of an unreadable entry was not written by a proxy of ours.
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
