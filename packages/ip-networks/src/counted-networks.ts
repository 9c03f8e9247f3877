import { isIP } from "node:net";

/**
 * The size of a counted network. An IPv4 address counts by itself. An IPv6 host usually has a whole /64,
 * and a customer's line a /56 or a /48.
 */
export type NetworkSize = "address" | "/64" | "/56" | "/48";

/** A network whose requests are counted together. */
export interface CountedNetwork {
  readonly name: string;
  readonly size: NetworkSize;
}

/**
 * Returns the networks in which the requests of a canonical address are counted, smallest first. Limits per
 * network bind a client that changes its address; they may differ, because a larger network may belong to
 * several customers.
 */
export function listCountedNetworks(address: string): readonly CountedNetwork[] {
  if (isIP(address) !== 6) return [{ name: address, size: "address" }];
  const [first = "", second = "", third = "", fourth = ""] = listGroups(address);
  const line = `${first}:${second}:${third}`;
  const upperByte = (Number.parseInt(fourth, 16) & 0xff00).toString(16);
  return [
    { name: `${line}:${fourth}::/64`, size: "/64" },
    { name: `${line}:${upperByte}::/56`, size: "/56" },
    { name: `${line}::/48`, size: "/48" },
  ];
}

/** Lists the groups of an IPv6 address, including those that `::` stands for. */
function listGroups(address: string): readonly string[] {
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const groups = head === "" ? [] : head.split(":");
  const tailGroups = tail === undefined || tail === "" ? [] : tail.split(":");
  // A trailing IPv4 address stands for two groups.
  const tailLength = tailGroups.length + (tail?.includes(".") === true ? 1 : 0);
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - tailLength) }, () => "0");
  return [...groups, ...zeros, ...tailGroups];
}
