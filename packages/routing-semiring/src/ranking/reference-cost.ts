import { toShareKey, toSumKey } from "../semiring.ts";
import { getTrustScore } from "../trust/trust-level.ts";

/** Computes the cost with which the costs of all candidates are compared, from one candidate after another. */
export interface ReferenceCost {
  /** Adds a candidate that has the required capabilities; `cost` is in currency units, `trust` from 0 to 1. */
  add(cost: number, trust: number): void;
  /** Returns the cost in currency units; 0 if no added candidate counts. */
  compute(): number;
}

/** Levels from this one on cost fees, so one candidate's cost counts as much as the other's. */
const EQUAL_TRUST = toShareKey(getTrustScore("verified"));

/**
 * The median of the priced candidates that are at least `verified`, or otherwise of those that are trusted
 * most; the lower one of two. A listing costs nothing, so the listings of agents that are trusted less must
 * not decide which prices count as high: with one of 1e9 in a mean, all real prices would look equally low.
 */
export class MedianCostOfMostTrusted implements ReferenceCost {
  #trust = -1;
  #costs: number[] = [];

  add(cost: number, trust: number): void {
    const key = Math.min(toShareKey(trust), EQUAL_TRUST);
    if (cost === 0 || key < this.#trust) return;
    if (key > this.#trust) [this.#trust, this.#costs] = [key, []];
    this.#costs.push(cost);
  }

  compute(): number {
    const sorted = Float64Array.from(this.#costs).sort();
    return sorted[(sorted.length - 1) >> 1] ?? 0;
  }
}

/** The mean of all candidates, by which the versions of the rules before the fourth compared. */
export class MeanCost implements ReferenceCost {
  #sum = 0;
  #count = 0;

  add(cost: number): void {
    // Summed in micro-units, so that the mean does not depend on the order of the candidates.
    this.#sum += toSumKey(cost);
    this.#count += 1;
  }

  compute(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count / 1e6;
  }
}
