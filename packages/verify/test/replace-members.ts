import type { SeededRandom } from "@agent/testkit";

/** Values that code for another type would trip over; none of them is a function. */
const ODD_VALUES = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  "",
  "x",
  "0".repeat(64),
  "\u0000",
  [],
  [null],
  [[]],
  {},
  { length: 5 },
  { toString: 1, valueOf: 1 },
  [{ toString: 1 }],
  { id: { toString: 1 } },
  { constructor: 1 },
] as const;

type Container = Record<string, unknown>;

/**
 * Returns a copy of parsed JSON in which one or two members, at any depth, are missing, are copies of
 * others or are odd values.
 */
export function replaceMembers(random: SeededRandom, value: object): object {
  const copy = structuredClone(value) as Container;
  for (let left = 1 + random.below(2); left > 0; left -= 1) {
    const { holder, name } = pickPlace(random, copy);
    const other = pickPlace(random, copy);
    const way = random.below(10);
    if (way === 0) delete holder[name];
    else if (way === 1) holder[name] = structuredClone(other.holder[other.name]);
    else holder[name] = structuredClone(random.pick(ODD_VALUES));
  }
  // A member that a list lost is null in its text.
  return JSON.parse(JSON.stringify(copy)) as object;
}

interface Place {
  readonly holder: Container;
  readonly name: string;
}

/** Descends at random, so that the few outer members are replaced as often as the many inner ones. */
function pickPlace(random: SeededRandom, holder: Container): Place {
  const name = random.pick(Object.keys(holder) as [string, ...string[]]);
  const inner = holder[name];
  const isHolder = typeof inner === "object" && inner !== null && Object.keys(inner).length > 0;
  return isHolder && random.below(3) > 0 ? pickPlace(random, inner as Container) : { holder, name };
}
