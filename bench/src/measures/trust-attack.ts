import type { TrustThresholds } from "@agent/routing-semiring";
import { trustAttacks } from "../trust-attack/attacks.ts";
import { buildHonestMarket, type HonestMarketOptions } from "../trust-attack/honest-market.ts";
import { computeRankCorrelation } from "../trust-attack/rank-correlation.ts";
import { findCheapestAttack, type AttackCost } from "../trust-attack/run-attack.ts";
import { WITHOUT_FEES } from "../trust-attack/simulated-market.ts";
import { computeMedian, printFigures, type Figure } from "../figures.ts";

const DEFAULTS: TrustThresholds = { verified: 50_000, trusted: 500_000 };
/** Thresholds for a market in which a task costs a cent. */
const SMALL: TrustThresholds = { verified: 500, trusted: 5_000 };

const USUAL: HonestMarketOptions = {
  agents: 200,
  payers: 1_000,
  thresholds: DEFAULTS,
  prices: [0.01, 5],
};
const WARM_UP_ROUNDS = 3;
const ROUNDS = 15;
const RANKINGS_PER_ROUND = 20;

const CENTS: HonestMarketOptions = { ...USUAL, prices: [0.01, 0.01] };

/** Measures the cost of faking a reputation, and the rule's effect on honest agents. */
export function benchmarkTrustAttack(): void {
  const costs = Object.entries(trustAttacks).map(
    ([name, attack]) => [name, findCheapestAttack(attack, USUAL)] as const,
  );
  console.log(formatCosts(costs));
  const least = (goal: keyof AttackCost) => Math.min(...costs.map(([, cost]) => cost[goal]));
  const figures: Figure[] = [
    { name: "USD that `trusted` costs in the cheapest attack", ...atLeast(least("trusted"), 1) },
    {
      name: "USD that `verified` costs in the cheapest attack",
      ...atLeast(least("verified"), 0.1),
    },
    {
      name: "rank correlation of honest agents with that without fees",
      ...atLeast(correlate(USUAL), 0.95),
    },
    {
      name: "the same where all tasks cost 0.01, thresholds 0.0005 and 0.005",
      ...atLeast(correlate({ ...CENTS, thresholds: SMALL }), 0.95),
    },
    {
      name: "CPU of a ranking for a stranger / that without fees",
      value: compareCost(USUAL),
      floor: 1.05,
      goal: 1,
      bound: "max",
    },
    // Printed without a requirement, because the default thresholds are too high here for some or all agents.
    {
      name: "the same where each agent has one price from 0.01 to 5",
      ...atLeast(correlate({ ...USUAL, onePricePerAgent: true }), 0),
    },
    {
      name: "the same where all tasks cost 0.01, with the default thresholds",
      ...atLeast(correlate(CENTS), 0),
    },
  ];
  printFigures(figures);
}

/** Compares a stranger's ranking of honest agents with the ranking by the rule without fees. */
function correlate(options: HonestMarketOptions): number {
  const [before, after] = [WITHOUT_FEES, options.thresholds].map((thresholds) =>
    buildHonestMarket({ ...options, thresholds }).rankFor("stranger"),
  );
  return computeRankCorrelation(before ?? [], after ?? []);
}

/** Compares the processor time of rankings with and without fees, in alternation. Returns the median ratio. */
function compareCost(options: HonestMarketOptions): number {
  const markets = [options.thresholds, WITHOUT_FEES].map((thresholds) =>
    buildHonestMarket({ ...options, thresholds }),
  );
  const ratios: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    const [withFees = 0, without = 0] = markets.map((market) => {
      const before = process.cpuUsage();
      for (let run = 0; run < RANKINGS_PER_ROUND; run += 1) market.rankFor("stranger");
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    if (round >= 0) ratios.push(withFees / without);
  }
  return computeMedian(ratios);
}

function atLeast(value: number, floor: number): Pick<Figure, "value" | "floor" | "goal"> {
  return { value, floor, goal: floor };
}

/** Formats the table that docs/trust.md contains. */
function formatCosts(costs: readonly (readonly [string, AttackCost])[]): string {
  const cells = ["verified", "trusted", "first for a stranger", "first for an asker"];
  const rows = costs.map(([name, cost]) => [
    name,
    ...[cost.verified, cost.trusted, cost.firstForStranger, cost.firstForAsker].map((usd) =>
      Number.isFinite(usd) ? usd.toFixed(2) : "never",
    ),
  ]);
  return [["USD lost until", ...cells], ...rows]
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(18) : cell.padStart(22))).join(""))
    .join("\n");
}
