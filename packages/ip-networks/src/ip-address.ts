import { BlockList, isIP, SocketAddress } from "node:net";

/** A network: its address and the number of bits that all addresses in it share. */
export interface Cidr {
  readonly network: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

const mappedIpv4Pattern = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/**
 * Normalises an address: mapped IPv4 in dotted form, IPv6 compressed, without zone. Undefined if the text
 * is not an address.
 */
export function canonicalizeAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  // A fast path for the form that dual-stack sockets report.
  const mapped = mappedIpv4Pattern.exec(text);
  if (mapped !== null) return mapped[1];
  const [address = ""] = text.split("%");
  const canonical = new SocketAddress({ address, family: "ipv6" }).address;
  return mappedIpv4Pattern.exec(canonical)?.[1] ?? canonical;
}

/** Parses a range such as `10.0.0.0/8`, or a single address. Undefined for any other text. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", prefixText, ...rest] = text.split("/");
  const network = canonicalizeAddress(address);
  if (network === undefined || rest.length > 0 || address.includes("%")) return undefined;
  const isMapped = isIP(address) === 6 && isIP(network) === 4;
  const family = isIP(network) === 4 ? "ipv4" : "ipv6";
  const bits = family === "ipv4" ? 32 : 128;
  if (prefixText === undefined) return { network, prefix: bits, family };
  if (!/^\d{1,3}$/.test(prefixText)) return undefined;
  const prefix = Number(prefixText) - (isMapped ? 96 : 0);
  return prefix >= 0 && prefix <= bits ? { network, prefix, family } : undefined;
}

/** Returns a predicate for canonical addresses. Throws TypeError for a range that `parseCidr` refuses. */
export function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const cidr = parseCidr(range);
    if (cidr === undefined) throw new TypeError("not an IP range");
    list.addSubnet(cidr.network, cidr.prefix, cidr.family);
  }
  return (address) => list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
