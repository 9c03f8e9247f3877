import { MICRO } from "@agent/budget";
import type { TrustLevel } from "@agent/routing-semiring";
import { FACE, type Attack } from "./attacks.ts";
import { buildHonestMarket, type HonestMarketOptions } from "./honest-market.ts";
import type { SimulatedMarket } from "./simulated-market.ts";

/** The fees, in USD, that an attack lost before it reached each goal; Infinity for a goal that it never reached. */
export interface AttackCost {
  readonly verified: number;
  readonly trusted: number;
  readonly firstForStranger: number;
  readonly firstForAsker: number;
}

const ASKER = "asker";
const STRANGER = "stranger";
const RECORDS_OF_ASKER = 5;
/** The prices that attackers choose from; the fee on the first one rounds to 0. */
const PRICES = [0.000001, 0.00001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 5];
const MAX_STEPS = 10_000;

/** Runs an attack at each price, and returns the lowest cost of each goal. */
export function findCheapestAttack(attack: Attack, options: HonestMarketOptions): AttackCost {
  const runs = PRICES.map((price) => runAttack(attack, price, options));
  const least = (goal: keyof AttackCost) => Math.min(...runs.map((cost) => cost[goal]));
  return {
    verified: least("verified"),
    trusted: least("trusted"),
    firstForStranger: least("firstForStranger"),
    firstForAsker: least("firstForAsker"),
  };
}

function runAttack(attack: Attack, price: number, options: HonestMarketOptions): AttackCost {
  const market = buildHonestMarket({ ...options, equalListings: true });
  giveRecords(market);
  const cost = {
    verified: Infinity,
    trusted: Infinity,
    firstForStranger: Infinity,
    firstForAsker: Infinity,
  };
  let seen = "";
  let steps = 0;
  for (const fees of attack(market, price, options.thresholds)) {
    const lost = fees / MICRO;
    steps += 1;
    if (steps > MAX_STEPS) break;
    const view = describeFace(market);
    if (view.key === seen) continue;
    seen = view.key;
    if (view.level === "verified" || view.level === "trusted") {
      cost.verified = Math.min(cost.verified, lost);
    }
    if (view.level === "trusted") cost.trusted = Math.min(cost.trusted, lost);
    if (isFirst(market, STRANGER)) cost.firstForStranger = Math.min(cost.firstForStranger, lost);
    if (isFirst(market, ASKER)) cost.firstForAsker = Math.min(cost.firstForAsker, lost);
    if (Object.values(cost).every(Number.isFinite)) break;
  }
  return cost;
}

/** Describes everything about the attacker's agent on which the ranking depends. */
function describeFace(market: SimulatedMarket): {
  readonly key: string;
  readonly level: TrustLevel;
} {
  const [remote] = market.remote;
  if (remote !== undefined) {
    return { key: String(remote.trust_score), level: levelForScore(remote.trust_score) };
  }
  const level = market.levelOf(FACE);
  const { successes, counted } = market.historyOf(FACE);
  return { key: `${level} ${successes / counted}`, level };
}

/** Returns the level that discovery shows for the trust of a route. */
function levelForScore(trust: number): TrustLevel {
  if (trust >= 0.9) return "trusted";
  if (trust >= 0.6) return "verified";
  return trust >= 0.3 ? "first_contact" : "unknown";
}

function isFirst(market: SimulatedMarket, asker: string): boolean {
  return market.rankFor(asker)[0]?.agent_id === FACE;
}

/** Gives the asker records of honest agents: from 5 to 25 tasks each. */
function giveRecords(market: SimulatedMarket): void {
  for (let index = 0; index < RECORDS_OF_ASKER; index += 1) {
    for (let task = 0; task < 5 * (index + 1); task += 1) {
      market.work(ASKER, `honest-${index}`, 1, task % 20 === 19 ? "failed" : "completed");
    }
  }
}
