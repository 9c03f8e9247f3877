import type { Candidate } from "./candidate.ts";
import { NONE } from "../graph/edge-index.ts";
import type { Routes } from "../graph/routes.ts";
import {
  isCapable,
  computePriceEfficiency,
  computeSubScores,
  computeSumWithoutPrice,
  computeTotalCost,
  computeTrust,
  clampToUnit,
} from "./score.ts";
import { MeanCost, MedianCostOfMostTrusted, type ReferenceCost } from "./reference-cost.ts";
import { compareNumbers, type RouteAttributes, toSumKey } from "../semiring.ts";
import type { SubScores, Weights } from "../weights.ts";

/** A candidate that is blocked, incapable or without a valid price; it scores 0. */
const UNFIT = 1;
/** The asking agent, which is not a candidate for its own task. */
const ASKER = 2;

/** The requirements of a task. */
export interface RankingRequirements {
  /** The asking agent. */
  readonly from: string;
  readonly requiredCapabilities: ReadonlySet<string>;
  readonly maxBudget: number | null;
  readonly priceCap: number | null;
}

/**
 * The scores of candidates by their index in the list. They are stored as columns; objects are created
 * only for candidates that are read.
 */
export class CandidateScores {
  readonly #candidates: readonly Candidate[];
  readonly #routes: Routes | null;
  readonly #requirements: RankingRequirements;
  readonly #nodes: Int32Array;
  readonly #costs: Float64Array;
  /** The reason why a candidate may not be chosen regardless of its cost; 0 if there is none. */
  readonly #exclusions: Uint8Array;
  readonly #composites: Float64Array;
  readonly #weights: Weights;
  readonly #knownNodes: ArrayLike<number> | undefined;
  readonly #reference: ReferenceCost;
  #referenceCost: number | undefined;

  constructor(
    candidates: readonly Candidate[],
    routes: Routes | null,
    requirements: RankingRequirements,
    weights: Weights,
    known: {
      /** The node numbers of the candidates in the graph. */
      readonly nodes?: ArrayLike<number> | undefined;
      /** The cost to compare with, if it is not that of the candidates. */
      readonly referenceCost?: number | undefined;
      readonly comparesWithMean?: boolean | undefined;
    } = {},
  ) {
    this.#candidates = candidates;
    this.#routes = routes;
    this.#requirements = requirements;
    this.#nodes = new Int32Array(candidates.length).fill(NONE);
    this.#costs = new Float64Array(candidates.length);
    this.#exclusions = new Uint8Array(candidates.length);
    this.#composites = new Float64Array(candidates.length);
    this.#weights = weights;
    this.#knownNodes = known.nodes;
    this.#reference =
      known.comparesWithMean === true ? new MeanCost() : new MedianCostOfMostTrusted();
    this.#referenceCost = known.referenceCost;
  }

  get length(): number {
    return this.#candidates.length;
  }

  /** Returns the cost with which the costs of all candidates are compared, in currency units. */
  get referenceCost(): number {
    this.#referenceCost ??= this.#reference.compute();
    return this.#referenceCost;
  }

  candidate(place: number): Candidate {
    return this.#candidates[place]!;
  }

  /** Returns the weighted score; 0 for a candidate that is blocked, incapable or without a valid price. */
  composite(place: number): number {
    return this.#composites[place]!;
  }

  scores(place: number): SubScores {
    const candidate = this.candidate(place);
    const capable = isCapable(candidate, this.#requirements.requiredCapabilities);
    return computeSubScores(candidate, this.#route(place), capable, this.#price(place));
  }

  /** Returns the cost of price and route; Infinity without a valid price. */
  cost(place: number): number {
    return this.#costs[place]!;
  }

  hops(place: number): number {
    const given = this.candidate(place).route;
    if (given !== undefined) return given.path.length - 1;
    return this.#nodes[place] === NONE ? 1 : this.#routes!.hops(this.#nodes[place]!);
  }

  /** Returns whether a route through the graph leads to the candidate. */
  isRouted(place: number): boolean {
    return this.#nodes[place] !== NONE;
  }

  /** Returns the ids of the route, which is direct without a route through the graph. */
  path(place: number): string[] {
    const given = this.candidate(place).route;
    if (given !== undefined) return [...given.path];
    const node = this.#nodes[place]!;
    return node === NONE
      ? [this.#requirements.from, this.candidate(place).agent_id]
      : this.#routes!.path(node);
  }

  isAffordable(place: number): boolean {
    const cost = this.#costs[place]!;
    const { maxBudget, priceCap } = this.#requirements;
    return cost < Infinity && isWithin(cost, maxBudget) && isWithin(cost, priceCap);
  }

  /** Returns whether the candidate may be chosen. */
  isEligible(place: number): boolean {
    return this.#exclusions[place] === 0 && this.isAffordable(place);
  }

  /** Compares two candidates: higher score, then fewer hops, lower cost, smaller id. */
  compare(a: number, b: number): number {
    return (
      compareNumbers(this.composite(b), this.composite(a)) ||
      compareNumbers(this.hops(a), this.hops(b)) ||
      compareNumbers(toSumKey(this.cost(a)), toSumKey(this.cost(b))) ||
      (this.candidate(a).agent_id < this.candidate(b).agent_id ? -1 : 1)
    );
  }

  #findNode(place: number): number {
    if (this.#routes === null) return NONE;
    return this.#knownNodes?.[place] ?? this.#routes.findNode(this.candidate(place).agent_id);
  }

  #route(place: number): RouteAttributes | null {
    const given = this.candidate(place).route;
    if (given !== undefined) return { ...given, hops: given.path.length - 1 };
    const node = this.#nodes[place]!;
    return node === NONE ? null : this.#routes!.figures(node);
  }

  #price(place: number): number {
    const { maxBudget } = this.#requirements;
    return computePriceEfficiency(this.#costs[place]!, maxBudget, this.referenceCost);
  }

  /**
   * Scores the candidates from `start` to `end` (excluded) by all factors but the price, which is compared
   * with a cost that depends on all candidates. Routes must be complete.
   */
  scoreAllButPrice(start: number, end: number): void {
    const { from, requiredCapabilities } = this.#requirements;
    const asker = this.#routes?.findNode(from) ?? NONE;
    for (let place = start; place < Math.min(end, this.length); place += 1) {
      const candidate = this.candidate(place);
      const node = this.#findNode(place);
      // Ids are compared only where numbers cannot, because reading the texts of many ids is slow.
      if (node === NONE ? candidate.agent_id === from : node === asker) {
        this.#exclusions[place] = ASKER;
      } else if (this.#routes !== null && candidate.route === undefined) {
        this.#nodes[place] = this.#routes.at(node);
      }
      const route = this.#route(place);
      const cost = computeTotalCost(candidate, route);
      const capable = isCapable(candidate, requiredCapabilities);
      this.#costs[place] = cost;
      if (candidate.blocked || !capable || cost === Infinity) {
        this.#exclusions[place] = UNFIT;
        continue;
      }
      // The price and the trust of an agent outside the graph are only its own relay's word.
      const isOutside = candidate.route !== undefined;
      this.#reference.add(cost, isOutside ? 0 : computeTrust(candidate, route));
      this.#composites[place] = computeSumWithoutPrice(candidate, route, this.#weights);
    }
  }

  /** Adds the score of the price to the candidates of a range, after all were scored without it. */
  scorePrice(start: number, end: number): void {
    const weight = this.#weights.price_efficiency;
    for (let place = start; place < Math.min(end, this.length); place += 1) {
      if (this.#exclusions[place] === UNFIT) continue;
      const sum = this.#composites[place]! + this.#price(place) * weight;
      // Rounded to 12 decimals, so that equal scores are not distinguished by float errors.
      this.#composites[place] = clampToUnit(Math.round(sum * 1e12) / 1e12);
    }
  }
}

/** Returns whether a cost is within a maximum; a maximum of NaN allows nothing. */
function isWithin(cost: number, max: number | null): boolean {
  return max === null || toSumKey(cost) <= toSumKey(max);
}
