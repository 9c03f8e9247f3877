import { Buffer } from "node:buffer";
import { SocketAddress } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { listCountedNetworks } from "./counted-networks.ts";
import { canonicalizeAddress } from "./ip-address.ts";

const namesOf = (address: string) =>
  listCountedNetworks(canonicalizeAddress(address) ?? address).map(({ name }) => name);

test.each([
  ["192.0.2.1", ["192.0.2.1"]],
  ["::ffff:192.0.2.1", ["192.0.2.1"]],
  ["::ffff:c000:201", ["192.0.2.1"]],
  ["unknown", ["unknown"]],
  ["2001:db8:1:2f3:3:4:5:6", ["2001:db8:1:2f3::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"]],
  ["2001:db8:1:2::9", ["2001:db8:1:2::/64", "2001:db8:1:0::/56", "2001:db8:1::/48"]],
  ["2001:db8::9", ["2001:db8:0:0::/64", "2001:db8:0:0::/56", "2001:db8:0::/48"]],
  ["2001:DB8::1:2:3:4:5", ["2001:db8:0:1::/64", "2001:db8:0:0::/56", "2001:db8:0::/48"]],
  ["::1", ["0:0:0:0::/64", "0:0:0:0::/56", "0:0:0::/48"]],
  ["fe80::1%eth0", ["fe80:0:0:0::/64", "fe80:0:0:0::/56", "fe80:0:0::/48"]],
  ["::192.0.2.1", ["0:0:0:0::/64", "0:0:0:0::/56", "0:0:0::/48"]],
])("E11: the requests of %s are counted in each of its networks", (address, networks) => {
  expect(namesOf(address)).toEqual(networks);
});

test("E11: two addresses of IPv6 share a network exactly if their first bits agree", () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  const format = (address: Uint8Array) => {
    const text = Buffer.from(address)
      .toString("hex")
      .replaceAll(/(?<=^(?:.{4})+)(?=.)/g, ":");
    return new SocketAddress({ address: text, family: "ipv6" }).address;
  };
  const shared = fc.integer({ min: 40, max: 80 });
  fc.assert(
    fc.property(bytes, shared, (one, bits) => {
      // The first byte keeps them apart from the addresses that stand for IPv4.
      one[0] = 0x20;
      const other = Uint8Array.from(one);
      other[bits >> 3] = (other[bits >> 3] ?? 0) ^ (0x80 >> (bits & 7));
      const isShared = namesOf(format(one)).map(
        (name, index) => name === namesOf(format(other))[index],
      );
      expect(isShared).toEqual([bits >= 64, bits >= 56, bits >= 48]);
    }),
  );
});
