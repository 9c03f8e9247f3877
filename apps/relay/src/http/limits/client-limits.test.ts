import { expect, test } from "vitest";
import { listClientLimits } from "./client-limits.ts";

test.each([
  ["192.0.2.1", [["192.0.2.1", 5]]],
  ["unknown", [["unknown", 5]]],
  [
    "2001:db8:1:203::9",
    [
      ["2001:db8:1:203::/64", 5],
      ["2001:db8:1:200::/56", 20],
      ["2001:db8:1::/48", 80],
    ],
  ],
])("E11: the requests of %s are limited in each of its networks", (address, expected) => {
  const limits = listClientLimits(address, 5).map(({ network, limit }) => [network, limit]);
  expect(limits).toEqual(expected);
});
