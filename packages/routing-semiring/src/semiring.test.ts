import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  costSemiring,
  latencySemiring,
  routeSemiring,
  reliabilitySemiring,
  type Semiring,
  trustSemiring,
} from "./semiring.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const sum = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: 0, max: 1e9, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Infinity) },
);
// Typical values: shares of two decimals, prices and times of few digits, so that ties are frequent.
const coarseShare = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
const coarseSum = fc.integer({ min: 0, max: 50 }).map((tenths) => tenths / 10);
const route = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(routeSemiring.zero, routeSemiring.one) },
  {
    weight: 9,
    arbitrary: fc.record({
      trust: coarseShare,
      cost: coarseSum,
      latency: coarseSum,
      reliability: coarseShare,
      hops: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

type Law = <T>(s: Semiring<T>, a: T, b: T, c: T) => boolean;

const laws: [string, Law][] = [
  [
    "plus is associative",
    (s, a, b, c) => s.equal(s.plus(s.plus(a, b), c), s.plus(a, s.plus(b, c))),
  ],
  ["plus is commutative", (s, a, b) => s.equal(s.plus(a, b), s.plus(b, a))],
  ["zero is the identity of plus", (s, a) => s.equal(s.plus(a, s.zero), a)],
  [
    "times is associative",
    (s, a, b, c) => s.equal(s.times(s.times(a, b), c), s.times(a, s.times(b, c))),
  ],
  [
    "one is the identity of times on both sides",
    (s, a) => s.equal(s.times(a, s.one), a) && s.equal(s.times(s.one, a), a),
  ],
  [
    "zero annihilates on both sides",
    (s, a) => s.equal(s.times(a, s.zero), s.zero) && s.equal(s.times(s.zero, a), s.zero),
  ],
  [
    "times distributes over plus from the left",
    (s, a, b, c) => s.equal(s.times(a, s.plus(b, c)), s.plus(s.times(a, b), s.times(a, c))),
  ],
  [
    "times distributes over plus from the right",
    (s, a, b, c) => s.equal(s.times(s.plus(a, b), c), s.plus(s.times(a, c), s.times(b, c))),
  ],
  ["plus returns one of its operands", (s, a, b) => [a, b].includes(s.plus(a, b))],
  ["times never improves a value", (s, a, b) => s.equal(s.plus(a, s.times(a, b)), a)],
];

/** Finds the first of 10,000 random triples that breaks a law. */
const counterexample = <T>(semiring: Semiring<T>, value: fc.Arbitrary<T>, law: Law) =>
  fc.sample(fc.tuple(value, value, value), 10_000).find(([a, b, c]) => !law(semiring, a, b, c));

describe.each(laws)("%s", (name, law) => {
  test.each([
    ["trust", trustSemiring, share],
    ["reliability", reliabilitySemiring, share],
    ["cost", costSemiring, sum],
    ["latency", latencySemiring, sum],
  ])(`${name} for %s within float error`, (_name, semiring, value) => {
    expect(counterexample(semiring, value, law)).toBeUndefined();
  });

  test(`${name} for whole routes`, () => {
    expect(counterexample(routeSemiring, route, law)).toBeUndefined();
  });
});

describe("equal of a semiring", () => {
  test.each([
    ["equal ignores float errors in products", trustSemiring.equal(0.9 * 0.8, 0.72), true],
    ["equal ignores float errors in sums", costSemiring.equal(0.1 + 0.2, 0.3), true],
    ["equal distinguishes a small difference of trust", trustSemiring.equal(0.9, 0.9000001), false],
    [
      "equal distinguishes a small difference of cost",
      costSemiring.equal(1e6, 1e6 + 0.000_01),
      false,
    ],
    ["equal is true for two missing routes", costSemiring.equal(Infinity, Infinity), true],
    [
      "equal distinguishes a missing route from an expensive one",
      costSemiring.equal(Infinity, 1e9),
      false,
    ],
    [
      "equal treats a route without trust as no route",
      routeSemiring.equal(routeSemiring.zero, { ...routeSemiring.one, trust: 0 }),
      true,
    ],
    [
      "equal distinguishes routes that differ in one attribute",
      routeSemiring.equal(routeSemiring.one, { ...routeSemiring.one, cost: 1 }),
      false,
    ],
  ])("%s", (_, actual, expected) => {
    expect(actual).toBe(expected);
  });
});

describe("plus of routeSemiring", () => {
  const plain = { trust: 0.72, cost: 2, latency: 10, reliability: 0.9, hops: 2 };
  test.each([
    [
      "has the higher trust, regardless of the others",
      { trust: 0.8, cost: 9, latency: 99, reliability: 0.1, hops: 9 },
    ],
    ["has fewer hops at equal trust", { cost: 9, latency: 99, reliability: 0.1, hops: 1 }],
    ["has fewer hops at a trust that ties after multiplication", { trust: 0.9 * 0.8, hops: 1 }],
    ["costs less at equal hops", { cost: 1, latency: 99, reliability: 0.1 }],
    ["is faster at equal cost", { latency: 9, reliability: 0.1 }],
    ["is more reliable at equal latency", { reliability: 0.91 }],
  ])("the better of two routes %s", (_, change) => {
    const better = { ...plain, ...change };
    expect(routeSemiring.plus(better, plain)).toBe(better);
    expect(routeSemiring.plus(plain, better)).toBe(better);
  });
});
