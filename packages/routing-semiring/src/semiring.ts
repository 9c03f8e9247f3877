/** What passing one hop adds: trust and reliability in 0..1, cost in currency units, latency in ms. */
export interface EdgeAttributes {
  readonly trust: number;
  readonly cost: number;
  readonly latency: number;
  readonly reliability: number;
}

/** The figures of one whole route. */
export interface RouteAttributes extends EdgeAttributes {
  readonly hops: number;
}

/**
 * An algebra of routes: `times` joins two stretches into one route, `plus` keeps the better of two
 * routes, `zero` is no route, `one` is the empty route, `of` reads its value from an edge.
 *
 * Route search needs `plus` to return one of its operands and `times` never to improve a value.
 * `equal` means equal within float error.
 */
export interface Semiring<T> {
  readonly zero: T;
  readonly one: T;
  readonly plus: (a: T, b: T) => T;
  readonly times: (a: T, b: T) => T;
  readonly equal: (a: T, b: T) => boolean;
  readonly fromEdge: (edge: EdgeAttributes) => T;
}

/** A trust below this (the smallest normal single-precision number) is no trust. */
export const NEGLIGIBLE = 2 ** -126;

function isClose(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) <= Math.max(NEGLIGIBLE, 1e-12 * Math.min(a, b));
}

function createMaxProduct(fromEdge: (edge: EdgeAttributes) => number): Semiring<number> {
  return {
    zero: 0,
    one: 1,
    plus: (a, b) => Math.max(a, b),
    times: (a, b) => a * b,
    equal: isClose,
    fromEdge,
  };
}

function createMinSum(fromEdge: (edge: EdgeAttributes) => number): Semiring<number> {
  return {
    zero: Infinity,
    one: 0,
    plus: (a, b) => Math.min(a, b),
    times: (a, b) => a + b,
    equal: isClose,
    fromEdge,
  };
}

/** Trust in 0..1: multiplied along a route, the highest wins. */
export const trustSemiring = createMaxProduct((edge) => edge.trust);

/** Reliability in 0..1: multiplied along a route, the highest wins. */
export const reliabilitySemiring = createMaxProduct((edge) => edge.reliability);

/** Cost in currency units: added along a route, the lowest wins. */
export const costSemiring = createMinSum((edge) => edge.cost);

/** Latency in ms: added along a route, the lowest wins. */
export const latencySemiring = createMinSum((edge) => edge.latency);

// Ties are found at the precision at which figures are known, so that 0.9 * 0.8 ties with 0.72
// and 0.1 + 0.2 with 0.3. Rounding keeps "ties with" transitive, which a tolerance would not.

/** A share, rounded for comparison: to single precision. */
export const toShareKey = Math.fround;

/** A cost or a latency, rounded for comparison: in millionths. */
export function toSumKey(value: number): number {
  return Math.round(value * 1e6);
}

/** Negative when route `a` is preferred: more trust, fewer hops, lower cost, latency, reliability. */
export function compareRoutes(a: RouteAttributes, b: RouteAttributes): number {
  return (
    compareNumbers(toShareKey(b.trust), toShareKey(a.trust)) ||
    compareNumbers(a.hops, b.hops) ||
    compareNumbers(toSumKey(a.cost), toSumKey(b.cost)) ||
    compareNumbers(toSumKey(a.latency), toSumKey(b.latency)) ||
    compareNumbers(toShareKey(b.reliability), toShareKey(a.reliability))
  );
}

/** For sorting; unlike a difference it orders infinities too. */
export function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * All figures of one route at once: `plus` keeps a whole route (the one of the highest trust; ties:
 * fewer hops, lower cost, lower latency, higher reliability) and never mixes figures of two routes.
 */
export const routeSemiring: Semiring<RouteAttributes> = {
  zero: { trust: 0, cost: Infinity, latency: Infinity, reliability: 0, hops: Infinity },
  one: { trust: 1, cost: 0, latency: 0, reliability: 1, hops: 0 },
  plus: (a, b) => (compareRoutes(a, b) <= 0 ? a : b),
  times: (a, b) => ({
    trust: a.trust * b.trust,
    cost: a.cost + b.cost,
    latency: a.latency + b.latency,
    reliability: a.reliability * b.reliability,
    hops: a.hops + b.hops,
  }),
  // Without trust there is no route, whatever the other figures are.
  equal: (a, b) =>
    (a.trust < NEGLIGIBLE && b.trust < NEGLIGIBLE) ||
    (isClose(a.trust, b.trust) &&
      isClose(a.cost, b.cost) &&
      isClose(a.latency, b.latency) &&
      isClose(a.reliability, b.reliability) &&
      a.hops === b.hops),
  fromEdge: ({ trust: share, cost: price, latency: delay, reliability: chance }) => ({
    trust: share,
    cost: price,
    latency: delay,
    reliability: chance,
    hops: 1,
  }),
};
