import type { TestAgent } from "@agent/testkit";
import type { DiscoveryEntry, MarketCandidate } from "@agent/wire";
import { afterEach, describe, expect, test } from "vitest";
import { bootstrapWithProof, createAgentWithKeyOf } from "../../test/agents/key-proof.ts";
import { createReputationMarket, type ReputationMarket } from "../../test/reputation-market.ts";
import { createRotation } from "../../test/agents/rotation.ts";

let m: ReputationMarket;
afterEach(() => m.close());

const TINY_PRICE = 0.000001;

async function showTo(reader: TestAgent, agent: TestAgent): Promise<DiscoveryEntry> {
  const { body } = await m.call(reader, "GET", `/api/v1/agents/${agent.agentId}`);
  return body as unknown as DiscoveryEntry;
}

async function rankFor(reader: TestAgent): Promise<MarketCandidate[]> {
  const { body } = await m.call(reader, "GET", "/api/v1/market/candidates?capability=summarise");
  return body["candidates"] as MarketCandidate[];
}

describe("C1: a level that strangers see costs fees", () => {
  test("C1: two identities with 40 tasks at 0.000001 show no level and no success", async () => {
    m = await createReputationMarket();
    const honest = await m.seller(0.5);
    const fake = await m.seller(TINY_PRICE);
    for (const identity of [await m.buyer(1), await m.buyer(1)]) {
      await m.work(identity, fake, { times: 20 });
    }
    const stranger = await m.buyer(0);
    expect(await showTo(stranger, fake)).toMatchObject({ trust_level: "unknown" });
    const [first, second] = await rankFor(stranger);
    expect(await m.feesKept()).toBe(0);
    // Without its faked history it is a newcomer, whose one advantage is its price.
    expect([first, second]).toMatchObject([
      { agent_id: fake.agentId, sub_scores: { trust: 0.1, success_rate: 0.5 } },
      { agent_id: honest.agentId, sub_scores: { trust: 0.1, success_rate: 0.5 } },
    ]);
  });

  test("C1: an honest agent is shown as trusted and ranks first if two payers left 0.50 in fees each", async () => {
    m = await createReputationMarket();
    const honest = await m.seller(0.5);
    const fake = await m.seller(0.5);
    for (const identity of [await m.buyer(20), await m.buyer(20)]) {
      await m.work(identity, honest, { times: 20 });
    }
    await m.list(fake, TINY_PRICE);
    for (const identity of [await m.buyer(1), await m.buyer(1)]) {
      await m.work(identity, fake, { times: 20 });
    }
    await m.list(fake, 0.5);
    const stranger = await m.buyer(0);
    expect(await m.feesKept()).toBe(1);
    expect(await showTo(stranger, honest)).toMatchObject({ trust_level: "trusted" });
    expect(await showTo(stranger, fake)).toMatchObject({ trust_level: "unknown" });
    expect(await rankFor(stranger)).toMatchObject([
      { agent_id: honest.agentId, sub_scores: { trust: 0.9, success_rate: 1 } },
      { agent_id: fake.agentId, sub_scores: { trust: 0.1, success_rate: 0.5 } },
    ]);
  });
});

const trust = async (reader: TestAgent, agent: TestAgent) =>
  (await showTo(reader, agent)).trust_level;

describe("C4: payers that the reader knows count without fees", () => {
  test("C4: two payers whom the reader has paid show it their level at once", async () => {
    m = await createReputationMarket();
    const worker = await m.seller(0.02);
    const payers = [await m.seller(1), await m.seller(1)];
    for (const payer of payers) {
      await m.t.deposit(payer, 1);
      await m.work(payer, worker, { times: 20 });
    }
    const asker = await m.buyer(10);
    expect(await trust(asker, worker)).toBe("first_contact");
    await m.work(asker, payers[0]!);
    expect(await trust(asker, worker)).toBe("first_contact");
    await m.work(asker, payers[1]!);
    expect(await trust(asker, worker)).toBe("trusted");
    expect(await trust(await m.buyer(0), worker)).toBe("first_contact");
    const { body } = await m.call(asker, "GET", "/api/v1/agents/discover?capability=summarise");
    const found = (body["agents"] as DiscoveryEntry[]).find(
      ({ agent_id }) => agent_id === worker.agentId,
    );
    expect(found).toMatchObject({ trust_level: "trusted" });
  });

  test("C4: payers whom the reader trusts from free tasks count, but their tasks without a fee do not", async () => {
    m = await createReputationMarket();
    const [worker, fake] = [await m.seller(0.02), await m.seller(TINY_PRICE)];
    const payers = [await m.seller(0), await m.seller(0)];
    const asker = await m.buyer(0);
    for (const payer of payers) {
      await m.t.deposit(payer, 1);
      await m.work(payer, worker, { times: 5 });
      await m.work(payer, fake, { times: 20 });
      await m.work(asker, payer, { times: 4 });
    }
    expect(await trust(asker, worker)).toBe("first_contact");
    for (const payer of payers) await m.work(asker, payer);
    expect(await trust(asker, worker)).toBe("verified");
    expect(await trust(asker, fake)).toBe("unknown");
  });

  test("C4: a payer whom the reader has paid and then blocked no longer counts", async () => {
    m = await createReputationMarket();
    const worker = await m.seller(0.02);
    const payers = [await m.seller(1), await m.seller(1)];
    const asker = await m.buyer(10);
    for (const payer of payers) {
      await m.t.deposit(payer, 1);
      await m.work(payer, worker, { times: 20 });
      await m.work(asker, payer);
    }
    expect(await trust(asker, worker)).toBe("trusted");
    const blocked = `/api/v1/agents/${asker.agentId}/trust/${payers[0]?.agentId}`;
    expect((await m.call(asker, "PUT", blocked, { trust_level: "blocked" })).status).toBe(200);
    expect(await trust(asker, worker)).toBe("first_contact");
  });
});

describe("C3: payers with one owner count as one", () => {
  test("C3: an identity under a former key of another payer does not count as a second payer", async () => {
    m = await createReputationMarket();
    const { t } = m;
    const worker = await m.seller(1);
    const first = await m.buyer(20);
    await m.work(first, worker, { times: 20 });
    const { succession } = createRotation(t, first);
    await t.as(first, "POST", `/api/v1/agents/${first.agentId}/rotate-key`, { succession });
    const identity = createAgentWithKeyOf(t, first);
    const { status, body } = await bootstrapWithProof(t, identity);
    expect(status).toBe(201);
    const second = { ...identity, deviceId: String(body["device_id"]) };
    await t.deposit(second, 20);
    await m.work(second, worker, { times: 20 });
    const stranger = await m.buyer(0);
    expect(await trust(stranger, worker)).toBe("unknown");
    const other = await m.buyer(20);
    await m.work(other, worker, { times: 20 });
    expect(await trust(stranger, worker)).toBe("trusted");
  });

  test("C3: two payers that turn out to have one owner no longer show the level that they showed together", async () => {
    m = await createReputationMarket();
    const { t } = m;
    const worker = await m.seller(1);
    const [first, second] = [await m.buyer(20), await m.buyer(20)];
    for (const payer of [first, second]) await m.work(payer, worker, { times: 20 });
    const stranger = await m.buyer(0);
    expect(await trust(stranger, worker)).toBe("trusted");
    const changed = createRotation(t, first);
    const rotate = `/api/v1/agents/${first.agentId}/rotate-key`;
    await t.as(first, "POST", rotate, { succession: changed.succession });
    // The second agent takes over the key that the first one has left.
    const { succession } = createRotation(t, second, { to: first });
    const answer = await t.as(second, "POST", `/api/v1/agents/${second.agentId}/rotate-key`, {
      succession,
    });
    expect(answer.status).toBe(200);
    expect(await trust(stranger, worker)).toBe("unknown");
  });
});

describe("C7: a bad reputation costs the same fees as a good one", () => {
  test("C7: failed tasks count for strangers only if their payers left fees", async () => {
    m = await createReputationMarket();
    const [worker, other] = [await m.seller(1), await m.seller(1)];
    const [payer, enemy] = [await m.buyer(20), await m.buyer(20)];
    await m.work(payer, worker, { times: 2 });
    await m.work(enemy, worker, { times: 5, status: "failed" });
    const rate = async (reader: TestAgent) =>
      (await rankFor(reader)).find(({ agent_id }) => agent_id === worker.agentId)?.sub_scores
        .success_rate;
    const stranger = await m.buyer(0);
    expect(await rate(stranger)).toBe(1);
    expect(await rate(enemy)).toBe(0);
    // Each success leaves a fee of 0.05, which one failure uses.
    await m.work(enemy, other, { times: 2 });
    await m.work(enemy, worker, { times: 5, status: "failed" });
    expect(await rate(stranger)).toBe(0.5);
  });

  test("C7: a success for a payer below the threshold counts like a free task", async () => {
    m = await createReputationMarket();
    const worker = await m.seller(0.00001);
    await m.work(await m.buyer(1), worker, { times: 5 });
    expect(await m.feesKept()).toBe(0.000005);
    const [candidate] = await rankFor(await m.buyer(0));
    expect(candidate).toMatchObject({ sub_scores: { success_rate: 0.5, trust: 0.1 } });
  });
});

describe("C2: the thresholds of a relay", () => {
  test("C2: the operator of a relay for small prices can set lower thresholds", async () => {
    m = await createReputationMarket({
      AGENT_TRUST_FEES_VERIFIED: "0.0005",
      AGENT_TRUST_FEES_TRUSTED: "0.005",
    });
    const worker = await m.seller(0.01);
    for (const payer of [await m.buyer(1), await m.buyer(1)]) {
      await m.work(payer, worker, { times: 20 });
    }
    expect(await trust(await m.buyer(0), worker)).toBe("trusted");
  });

  test("C2: a relay without fees shows no level, and its discovery and market state the basis unpriced", async () => {
    m = await createReputationMarket({ AGENT_PLATFORM_FEE_RATE: "0" });
    const worker = await m.seller(1);
    for (const payer of [await m.buyer(20), await m.buyer(20)]) {
      await m.work(payer, worker, { times: 20 });
    }
    const stranger = await m.buyer(0);
    const unpriced = { trust_basis: "unpriced" };
    expect(await showTo(stranger, worker)).toMatchObject({ trust_level: "unknown", ...unpriced });
    expect(await rankFor(stranger)).toMatchObject([{ sub_scores: { trust: 0.1 }, ...unpriced }]);
    expect(m.t.listLogged("trust.unpriced")).toMatchObject([
      { level: "warn", fee_rate: 0, fees_verified: 0.05, fees_trusted: 0.5 },
    ]);
  });

  test("C2: thresholds of 0 show the best level that two payers give, and state the basis unpriced", async () => {
    m = await createReputationMarket({
      AGENT_PLATFORM_FEE_RATE: "0",
      AGENT_TRUST_FEES_VERIFIED: "0",
      AGENT_TRUST_FEES_TRUSTED: "0",
    });
    const worker = await m.seller(1);
    const stranger = await m.buyer(0);
    await m.work(await m.buyer(20), worker, { times: 20 });
    expect(await trust(stranger, worker)).toBe("unknown");
    await m.work(await m.buyer(20), worker, { times: 20 });
    expect(await showTo(stranger, worker)).toMatchObject({
      trust_level: "trusted",
      trust_basis: "unpriced",
    });
    expect(await rankFor(stranger)).toMatchObject([
      { sub_scores: { trust: 0.9, success_rate: 1 } },
    ]);
  });

  test("C2: a relay with fees logs no warning and states no basis", async () => {
    m = await createReputationMarket();
    const worker = await m.seller(1);
    const stranger = await m.buyer(0);
    expect(await showTo(stranger, worker)).not.toHaveProperty("trust_basis");
    expect((await rankFor(stranger))[0]).not.toHaveProperty("trust_basis");
    expect(m.t.listLogged("trust.unpriced")).toEqual([]);
  });
});

test("C1: the fees of a pair are shown to no one", async () => {
  m = await createReputationMarket();
  const worker = await m.seller(1);
  const payer = await m.buyer(5);
  await m.work(payer, worker);
  const { body } = await m.call(
    payer,
    "GET",
    `/api/v1/agents/${payer.agentId}/trust/${worker.agentId}`,
  );
  expect(Object.keys(body)).not.toContain("fees_kept");
  expect(Object.keys(body)).not.toContain("paid_tasks");
});
