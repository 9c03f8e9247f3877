/** The attributes of one hop: trust and reliability in 0..1, cost in currency units, latency in ms. */
export interface EdgeAttributes {
  readonly trust: number;
  readonly cost: number;
  readonly latency: number;
  readonly reliability: number;
}

/** The attributes of one whole route. */
export interface RouteAttributes extends EdgeAttributes {
  readonly hops: number;
}

/**
 * An algebra of routes: `times` joins two parts of a route, `plus` returns the better of two routes,
 * `zero` is no route, `one` is the empty route, `fromEdge` reads the value of an edge.
 *
 * Route search requires that `plus` returns one of its operands and that `times` never improves a value.
 * `equal` compares within float error.
 */
export interface Semiring<T> {
  readonly zero: T;
  readonly one: T;
  readonly plus: (a: T, b: T) => T;
  readonly times: (a: T, b: T) => T;
  readonly equal: (a: T, b: T) => boolean;
  readonly fromEdge: (edge: EdgeAttributes) => T;
}

/** Trust below this value (the smallest normal single-precision number) counts as 0. */
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

/** Trust in 0..1: multiplied along a route; the highest is best. */
export const trustSemiring = createMaxProduct((edge) => edge.trust);

/** Reliability in 0..1: multiplied along a route, the highest is best. */
export const reliabilitySemiring = createMaxProduct((edge) => edge.reliability);

/** Cost in currency units: added along a route, the lowest is best. */
export const costSemiring = createMinSum((edge) => edge.cost);

/** Latency in ms: added along a route, the lowest is best. */
export const latencySemiring = createMinSum((edge) => edge.latency);

// Ties are determined at the precision of the inputs, so that 0.9 * 0.8 ties with 0.72 and 0.1 + 0.2
// with 0.3. Rounding makes ties transitive, unlike a tolerance.

/** Rounds a share for comparison, to single precision. */
export const toShareKey = Math.fround;

/** Rounds a cost or a latency for comparison, to millionths. */
export function toSumKey(value: number): number {
  return Math.round(value * 1e6);
}

/** Compares two routes, negative if `a` is preferred: trust, hops, cost, latency, reliability. */
export function compareRoutes(a: RouteAttributes, b: RouteAttributes): number {
  return (
    compareNumbers(toShareKey(b.trust), toShareKey(a.trust)) ||
    compareNumbers(a.hops, b.hops) ||
    compareNumbers(toSumKey(a.cost), toSumKey(b.cost)) ||
    compareNumbers(toSumKey(a.latency), toSumKey(b.latency)) ||
    compareNumbers(toShareKey(b.reliability), toShareKey(a.reliability))
  );
}

/** Compares numbers for sorting, including infinities, whose difference is NaN. */
export function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * All attributes of a route together: `plus` returns one whole route (that of the highest trust; ties:
 * fewer hops, lower cost, lower latency, higher reliability) and never mixes attributes of two routes.
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
  // A route without trust does not count as a route, whatever its other attributes are.
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
