import type { TrustThresholds } from "@agent/routing-semiring";
import { createSeededRandom, type SeededRandom } from "@agent/testkit";
import { SimulatedMarket } from "./simulated-market.ts";

export interface HonestMarketOptions {
  readonly agents: number;
  readonly payers: number;
  readonly thresholds: TrustThresholds;
  /** The lowest and the highest price, in USD, with a log-uniform distribution between them. */
  readonly prices: readonly [number, number];
  /** Whether each agent has one price for all tasks; otherwise each task has its own. */
  readonly onePricePerAgent?: boolean;
  /** Whether all agents have the same listing, so that only their reputations rank them. */
  readonly equalListings?: boolean;
}

const MIN_TASKS = 5;
const MAX_TASKS = 200;
/** A payer divides its tasks among at most this many agents. */
const MAX_FAVOURITES = 4;

/** Builds a market with histories that depend only on the options other than the thresholds, by a fixed seed. */
export function buildHonestMarket(options: HonestMarketOptions): SimulatedMarket {
  const { agents, payers, thresholds, prices } = options;
  const { equalListings = false, onePricePerAgent = false } = options;
  const random = createSeededRandom(11);
  const market = new SimulatedMarket(thresholds);
  const sellers = Array.from({ length: agents }, (_, index) => {
    const seller = {
      id: `honest-${index}`,
      price: round(drawLogUniform(random, prices)),
      latencyMs: 200 + random.below(3_000),
      reliability: 0.9 + 0.1 * random.next(),
    };
    const { id, price, latencyMs } = seller;
    market.listings.set(id, equalListings ? { price: 1, latencyMs: 1_000 } : { price, latencyMs });
    return seller;
  });
  for (let payer = 0; payer < payers; payer += 1) {
    const favourites = Array.from(
      { length: 1 + random.below(MAX_FAVOURITES) },
      () => sellers[drawPopular(random, agents)] ?? sellers[0],
    );
    const tasks = Math.max(MIN_TASKS, Math.round(MAX_TASKS / (payer + 1) ** 1));
    for (let task = 0; task < tasks; task += 1) {
      const seller = favourites[task % favourites.length];
      if (seller === undefined) continue;
      const status = random.next() < seller.reliability ? "completed" : "failed";
      const price = onePricePerAgent ? seller.price : round(drawLogUniform(random, prices));
      market.work(`payer-${payer}`, seller.id, price, status);
    }
  }
  return market;
}

/** Some agents are asked more often than others. */
function drawPopular(random: SeededRandom, agents: number): number {
  return Math.floor(agents * random.next() ** 2);
}

function drawLogUniform(random: SeededRandom, [low, high]: readonly [number, number]): number {
  return low * (high / low) ** random.next();
}

function round(price: number): number {
  return Math.round(price * 1e6) / 1e6;
}
