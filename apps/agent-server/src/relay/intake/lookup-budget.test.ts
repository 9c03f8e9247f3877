import { listCountedNetworks } from "@agent/ip-networks";
import { expect, test } from "vitest";
import { canLookUp, createLookupBudget, type LookupOrigin } from "./lookup-budget.ts";

const from = (address: string, count: number): LookupOrigin[] =>
  Array.from({ length: count }, () => ({ isProven: false, address }));
const proven = (address: string, count: number): LookupOrigin[] =>
  Array.from({ length: count }, () => ({ isProven: true, address }));
const toCounted = ({ isProven, address }: LookupOrigin) => ({
  isProven,
  networks: listCountedNetworks(address),
});

test.each<[string, readonly LookupOrigin[], LookupOrigin, boolean]>([
  ["the first of a network", [], { isProven: false, address: "a" }, true],
  ["the tenth of a network", from("a", 9), { isProven: false, address: "a" }, true],
  ["the eleventh of a network", from("a", 10), { isProven: false, address: "a" }, false],
  ["the first of a network beside a flood", from("a", 10), { isProven: false, address: "b" }, true],
  [
    "as many as are left",
    [...from("a", 10), ...from("b", 5)],
    { isProven: false, address: "b" },
    false,
  ],
  [
    "the twentieth of all",
    [...from("a", 10), ...from("b", 5), ...from("c", 4)],
    { isProven: false, address: "d" },
    true,
  ],
  [
    "the twenty-first of all",
    [...from("a", 10), ...from("b", 5), ...from("c", 5)],
    { isProven: false, address: "d" },
    false,
  ],
  ["a proven one beside a flood", from("a", 10), { isProven: true, address: "a" }, true],
  [
    "the fifteenth proven one of a network",
    proven("a", 14),
    { isProven: true, address: "a" },
    true,
  ],
  ["the sixteenth proven one", proven("a", 15), { isProven: true, address: "a" }, false],
  ["a proven one of another network", proven("a", 15), { isProven: true, address: "b" }, true],
  [
    "one without proof beside proven ones",
    proven("a", 15),
    { isProven: false, address: "a" },
    true,
  ],
])("E8: the budget decides whether a look-up is sent: %s", (_, recent, next, expected) => {
  expect(canLookUp(recent.map(toCounted), toCounted(next))).toBe(expected);
});

/** Sends look-ups of each address in turn until one is refused; returns how many of each were sent. */
function countSent(addresses: readonly string[], isProven = false): number[] {
  const budget = createLookupBudget({ now: () => 1_000_000 });
  return addresses.map((address) => {
    for (let sent = 0; ; sent += 1) {
      if (budget.take({ isProven, address }) !== undefined) return sent;
    }
  });
}

/** Addresses of five /64 networks in one /56, beginning with the given groups. */
const inOneLine = (line: string) => [1, 2, 3, 4, 5].map((host) => `${line}${host}::1`);

test.each<[string, readonly string[], readonly number[]]>([
  ["five addresses of IPv4", ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"], [10, 5, 3, 1]],
  ["a host", ["2001:db8:1:1::1", "2001:db8:1:1::2"], [6, 0]],
  ["a line of a /56", [...inOneLine("2001:db8:1:20"), "192.0.2.1"], [6, 2, 0, 0, 0, 6]],
  [
    "a line of a /48",
    [...inOneLine("2001:db8:1:20"), ...inOneLine("2001:db8:1:30"), "192.0.2.1", "2001:db8:2::1"],
    [6, 2, 0, 0, 0, 2, 0, 0, 0, 0, 5, 2],
  ],
  ["a neighbour in the /56 of a host", ["2001:db8:1:201::1", "2001:db8:1:202::1"], [6, 2]],
  [
    "a neighbour in the /48 of a line",
    [...inOneLine("2001:db8:1:20"), "2001:db8:1:301::1"],
    [6, 2, 0, 0, 0, 2],
  ],
  ["a neighbour in the /48 of a host", ["2001:db8:1:201::1", "2001:db8:1:301::1"], [6, 4]],
  ["a host beside an address of IPv4", ["192.0.2.1", "2001:db8:1:1::1"], [10, 3]],
])("E11: the newcomers that %s may bring are limited", (_, addresses, sent) => {
  expect(countSent(addresses)).toEqual(sent);
});

test("E11: the look-ups of known callers are limited by the same networks", () => {
  const line = inOneLine("2001:db8:1:20");
  expect(countSent([...line, "2001:db8:1:301::1", "192.0.2.1"], true)).toEqual([
    9, 3, 0, 0, 0, 3, 8,
  ]);
});

test("E8: a refused look-up names the time after which there is room for it", () => {
  let now = 1_000_000;
  const budget = createLookupBudget({ now: () => now });
  const origin = { isProven: false, address: "a" };
  expect(budget.take(origin)).toBeUndefined();
  now += 20_000;
  for (let i = 0; i < 9; i += 1) expect(budget.take(origin)).toBeUndefined();
  expect(budget.take(origin)).toEqual({ status: "unavailable", retryAfterSeconds: 40 });
  now += 39_999;
  expect(budget.take(origin)).toMatchObject({ retryAfterSeconds: 1 });
  now += 1;
  expect(budget.take(origin)).toBeUndefined();
  expect(budget.take(origin)).toMatchObject({ retryAfterSeconds: 20 });
});

test("a clock that is set back does not prolong the limit", () => {
  let now = 1_000_000;
  const budget = createLookupBudget({ now: () => now });
  const origin = { isProven: false, address: "a" };
  for (let i = 0; i < 10; i += 1) budget.take(origin);
  now -= 500_000;
  expect(budget.take(origin)).toBeUndefined();
});
