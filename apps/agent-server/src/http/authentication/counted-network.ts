import { isIPv6 } from "node:net";

/**
 * Returns the network by which the requests of a remote address are counted: an IPv4 address, or the
 * /64 network of an IPv6 address, because one client usually has a whole one. A closed socket has no
 * address.
 */
export function toCountedNetwork(address: string | undefined): string {
  if (address === undefined) return "unknown";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = "", tail = ""] = address.split("::");
  const [first, last] = [head, tail].map((part) => part.split(":").filter(Boolean));
  const zeros = Array.from({ length: 8 }, () => "0");
  const groups = [...(first ?? []), ...zeros.slice((first?.length ?? 0) + (last?.length ?? 0))];
  return `${[...groups, ...(last ?? [])].slice(0, 4).join(":")}::/64`;
}
