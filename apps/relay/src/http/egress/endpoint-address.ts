import { canonicalizeAddress, createAddressMatcher } from "@agent/ip-networks";

/** `never` is link-local, cloud metadata, multicast and reserved; no setting allows these. */
export type AddressClass = "public" | "private" | "never";

const isForbidden = createAddressMatcher([
  "169.254.0.0/16",
  "fe80::/10",
  // Metadata services of clouds with addresses that are not link-local.
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "ff00::/8",
  // Teredo, 6to4 and translated IPv4 are retired tunnels that hide an IPv4 address.
  "2001::/32",
  "2002::/16",
  "::ffff:0:0:0/96",
]);

const isPrivate = createAddressMatcher([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "::",
  "::1",
  "64:ff9b:1::/48",
  "100::/64",
  "2001:db8::/32",
  "fc00::/7",
  "fec0::/10",
]);

/** Classifies an address. Text that is not an IP address is `never`. */
export function classifyAddress(text: string): AddressClass {
  const address = canonicalizeAddress(text);
  if (address === undefined) return "never";
  const inner = embeddedIpv4(address) ?? address;
  if (isForbidden(inner)) return "never";
  return isPrivate(inner) ? "private" : "public";
}

/** Whether a name means this machine, independent of the resolver. */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host);
}

/** Whether the host of a URL is public, by its text alone. */
export function isPublicHost(host: string): boolean {
  const literal = ipLiteral(host);
  if (literal !== undefined) return classifyAddress(literal) === "public";
  const name = host.replace(/\.$/, "");
  return name.includes(".") && !/\.(localhost|local|internal|lan|test|home\.arpa)$/i.test(name);
}

/** Returns the IP address literal of a URL's host, without brackets. */
export function ipLiteral(host: string): string | undefined {
  return canonicalizeAddress(host.replace(/^\[|\]$/g, ""));
}

/** Returns the IPv4 address at the end of an IPv4-compatible or NAT64 address. */
function embeddedIpv4(address: string): string | undefined {
  const compatible = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (compatible !== undefined) return compatible;
  const nat64 = /^64:ff9b::([0-9a-f:]*)$/.exec(address)?.[1];
  if (nat64 === undefined) return undefined;
  const [low = 0, high = 0] = nat64
    .split(":")
    .map((group) => Number.parseInt(group || "0", 16))
    .toReversed();
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
