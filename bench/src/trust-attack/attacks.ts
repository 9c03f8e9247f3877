import { getClaimLimit } from "@agent/federation-protocol/discovery";
import { getTrustScore, type TrustThresholds } from "@agent/routing-semiring";
import type { SimulatedMarket } from "./simulated-market.ts";

/** The agent that an attacker wants to be chosen; its id wins every tie. */
export const FACE = "a-face";

/** Proceeds step by step, and after each step yields the total of lost fees, in micro-units. */
export type Attack = (
  market: SimulatedMarket,
  price: number,
  thresholds: TrustThresholds,
) => Generator<number, void>;

const LISTING = { price: 1, latencyMs: 1_000 };

/** Four identities pay each other in turn, so that the money circulates. */
function* ring(market: SimulatedMarket, price: number): Generator<number, void> {
  market.listings.set(FACE, LISTING);
  const members = [FACE, "ring-1", "ring-2", "ring-3"];
  let lost = 0;
  for (;;) {
    for (const payer of members) {
      for (const worker of members) {
        if (payer === worker) continue;
        lost += market.work(payer, worker, price, "completed");
        yield lost;
      }
    }
  }
}

/** Each identity pays only the next one. */
function* chain(market: SimulatedMarket, price: number): Generator<number, void> {
  market.listings.set(FACE, LISTING);
  const members = [...Array.from({ length: 9 }, (_, index) => `chain-${index}`), FACE];
  let lost = 0;
  for (;;) {
    for (const [index, worker] of members.entries()) {
      if (index === 0) continue;
      lost += market.work(members[index - 1] ?? "", worker, price, "completed");
      yield lost;
    }
  }
}

/** Many identities pay one agent. */
const star = (points: number): Attack =>
  function* (market, price) {
    market.listings.set(FACE, LISTING);
    let lost = 0;
    for (;;) {
      for (let payer = 0; payer < points; payer += 1) {
        lost += market.work(`star-${payer}`, FACE, price, "completed");
        yield lost;
      }
    }
  };

/** An agent that has cheated its customers starts again under a new id, with the same payers. */
function* whiteWashing(market: SimulatedMarket, price: number): Generator<number, void> {
  for (let task = 0; task < 40; task += 1) {
    market.work(`wash-${task % 2}`, "a-worn", price, "completed");
  }
  for (let task = 0; task < 20; task += 1) market.work("payer-0", "a-worn", 1, "failed");
  market.listings.set(FACE, LISTING);
  let lost = 0;
  for (let task = 0; ; task += 1) {
    lost += market.work(`wash-${task % 2}`, FACE, price, "completed");
    yield lost;
  }
}

/** A history of cheap tasks is used to sell an expensive one. */
function* cheapThenDear(market: SimulatedMarket): Generator<number, void> {
  market.listings.set(FACE, LISTING);
  let lost = 0;
  for (let task = 0; ; task += 1) {
    lost += market.work(`cheap-${task % 2}`, FACE, 0.01, "completed");
    yield lost;
  }
}

/** One identity pays without limit. */
const whale: Attack = star(1);

/** The attacker's own relay vouches for its agent, to which identities at this relay delegate. */
function* federationRing(
  market: SimulatedMarket,
  price: number,
  thresholds: TrustThresholds,
): Generator<number, void> {
  let lost = 0;
  for (;;) {
    lost += market.work("self", "peer", price, "completed");
    const limit = getClaimLimit(lost, thresholds);
    const trust = getTrustScore(limit) * getTrustScore(market.pairLevel("self", "peer"));
    market.remote.length = 0;
    market.remote.push({
      agent_id: FACE,
      capabilities: [],
      unit_cost: LISTING.price,
      trust_score: trust,
      blocked: false,
      successes: 0,
      counted: 0,
      avg_latency_ms: null,
      listing_latency_ms: 0,
      online: true,
      availability_guarantee: 1,
      route: {
        path: ["self", "relay:self", "relay:peer", FACE],
        trust,
        cost: 0,
        latency: LISTING.latencyMs,
        reliability: 1,
      },
    });
    yield lost;
  }
}

export const trustAttacks: Readonly<Record<string, Attack>> = {
  ring,
  chain,
  "star of 2": star(2),
  "star of 50": star(50),
  "white-washing": whiteWashing,
  "cheap, then dear": cheapThenDear,
  "one whale": whale,
  "federation ring": federationRing,
};
