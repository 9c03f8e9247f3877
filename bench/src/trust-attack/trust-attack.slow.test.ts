import { expect, test } from "vitest";
import { trustAttacks } from "./attacks.ts";
import { buildHonestMarket, type HonestMarketOptions } from "./honest-market.ts";
import { computeRankCorrelation } from "./rank-correlation.ts";
import { findCheapestAttack } from "./run-attack.ts";
import { WITHOUT_FEES } from "./simulated-market.ts";

const MARKET: HonestMarketOptions = {
  agents: 40,
  payers: 200,
  thresholds: { verified: 50_000, trusted: 500_000 },
  prices: [0.01, 5],
};

test.each(Object.entries(trustAttacks))(
  "C8: the attack %s costs what a level claims",
  (_, attack) => {
    const cost = findCheapestAttack(attack, MARKET);
    expect(cost.verified).toBeGreaterThanOrEqual(0.1);
    expect(cost.trusted).toBeGreaterThanOrEqual(1);
    expect(cost.firstForStranger).toBeGreaterThanOrEqual(1);
    expect(cost.firstForAsker).toBeGreaterThanOrEqual(1);
  },
);

test("C8: without thresholds the attacks are free, so the simulation can fail", () => {
  const cost = findCheapestAttack(trustAttacks["star of 2"]!, {
    ...MARKET,
    thresholds: WITHOUT_FEES,
  });
  expect(cost).toEqual({ verified: 0, trusted: 0, firstForStranger: 0, firstForAsker: 0 });
});

test("C8: honest agents are ranked much as without fees", () => {
  const [before, after] = [WITHOUT_FEES, MARKET.thresholds].map((thresholds) =>
    buildHonestMarket({ ...MARKET, thresholds }).rankFor("stranger"),
  );
  expect(computeRankCorrelation(before!, after!)).toBeGreaterThanOrEqual(0.9);
});
