import { expect, test } from "vitest";
import { createAddressMatcher, canonicalizeAddress, parseCidr } from "./ip-address.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::FFFF:192.0.2.1", "192.0.2.1"],
  ["::ffff:c000:201", "192.0.2.1"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["fe80::1%eth0", "fe80::1"],
  ["192.0.2.01", undefined],
  ["192.0.2", undefined],
  ["::ffff:192.0.2.300", undefined],
  ["1.2.3.4:80", undefined],
  ["localhost", undefined],
  ["", undefined],
])("the address %j is normalised to %j", (text, canonical) => {
  expect(canonicalizeAddress(text)).toBe(canonical);
});

test.each([
  ["10.0.0.0/8", { network: "10.0.0.0", prefix: 8, family: "ipv4" }],
  ["10.1.2.3", { network: "10.1.2.3", prefix: 32, family: "ipv4" }],
  ["0.0.0.0/0", { network: "0.0.0.0", prefix: 0, family: "ipv4" }],
  ["FD00::/8", { network: "fd00::", prefix: 8, family: "ipv6" }],
  ["::1", { network: "::1", prefix: 128, family: "ipv6" }],
  ["::ffff:10.0.0.0/104", { network: "10.0.0.0", prefix: 8, family: "ipv4" }],
  ["::ffff:10.0.0.0/8", undefined],
  ["10.0.0.0/33", undefined],
  ["10.0.0.0/", undefined],
  ["10.0.0.0/8/8", undefined],
  ["10.0.0.0/-1", undefined],
  ["10.0.0.0/08x", undefined],
  ["fe80::1%eth0/64", undefined],
  ["proxy.internal", undefined],
])("the range %j is parsed as %j", (text, range) => {
  expect(parseCidr(text)).toEqual(range);
});

test("a matcher accepts the first and the last address of a range but not their neighbours", () => {
  const matches = createAddressMatcher(["172.16.0.0/12", "fc00::/7"]);
  const inside = ["172.16.0.0", "172.31.255.255", "fc00::", "fdff:ffff::1"];
  const outside = ["172.15.255.255", "172.32.0.0", "fbff::1", "fe00::", "::1"];
  expect(inside.filter(matches)).toEqual(inside);
  expect(outside.filter(matches)).toEqual([]);
});
