import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  type Case,
  createArbiter,
  createParties,
  decide,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
  ruleAsOperator,
} from "../../test/inspections.ts";
import { createBuyer, expectConsistentBooks, getTaskAt, submitTask } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
  await t.deposit(parties.boss, 100);
});
afterEach(() => t.close());

/** Creates an executor of the attacker's own, with a key that nothing connects with its other ones. */
async function createOwnWorker(
  price: number,
  arbiter: TestAgent = parties.arbiter,
): Promise<Parties> {
  const worker = await createBuyer(t, 10);
  await putOffer(t, worker, { price, arbiters: [arbiter.agentId] });
  return { ...parties, worker, arbiter };
}

const inspectionsOf = async ({ agentId }: TestAgent) =>
  (await t.asOperator("GET", `/api/v1/agents/${agentId}`)).body["inspections"];

describe("figures of the parties", () => {
  test.each([
    ["IS34: inspections with a negligible fee count in no figure of their parties", 0.01, 0],
    ["inspections whose fee is a tenth of the cost of a dispute count for their parties", 0.02, 2],
  ])("%s", async (_title, price, closed) => {
    const own = await createOwnWorker(price);
    for (let count = 0; count < 2; count += 1) {
      await giveVerdict(t, await beginCase(t, own), "accepted");
    }
    const figures = { closed, rejected: 0, lost: 0 };
    expect(await inspectionsOf(own.boss)).toMatchObject({ as_delegator: figures });
    expect(await inspectionsOf(own.worker)).toMatchObject({ as_executor: figures });
    const given = await beginCase(t, parties);
    expect(await getTaskAt(t, given.task.path)).toMatchObject({ submitter_inspections: figures });
  });
});

describe("lost disputes", () => {
  test.each([
    [
      "IS37: disputes that a submitter won before its own arbiter do not outweigh those that it lost",
      "own",
    ],
    ["disputes that a submitter won outweigh those that it lost before the same arbiter", "same"],
  ])("%s", async (_title, by) => {
    const own = await createOwnWorker(2, by === "own" ? await createArbiter(t) : parties.arbiter);
    const [won, lost] = [[] as Case[], [] as Case[]];
    for (let count = 0; count < 6; count += 1) won.push(await beginDispute(t, own));
    for (let count = 0; count < 5; count += 1) lost.push(await beginDispute(t, parties));
    for (const given of lost) expect((await decide(t, given, 1)).status).toBe(200);
    await t.clock.advance(1);
    for (const given of won) expect((await decide(t, given, 0)).status).toBe(200);
    const { body } = await submitTask(t, parties.boss, parties.worker, { acceptance: {} });
    expect(body["code"]).toBe(by === "own" ? "acceptance.suspended" : undefined);
  });
});

describe("decisions of an arbiter", () => {
  const decidedBy = async ({ arbiter }: Parties, cases: readonly number[], price = 2) => {
    const own = await createOwnWorker(price);
    for (const share of cases) {
      expect((await decide(t, await beginDispute(t, own), share)).status).toBe(200);
      await t.clock.advance(1);
    }
    return inspectionsOf(arbiter);
  };

  test.each([
    ["about a negligible sum", [1, 0], 0.000001],
    ["that pay nothing for a submitter that never paid", [0, 0, 0.01], 2],
  ])(
    "E27: decisions %s cost an owner of all parties nothing, and do not count for its arbiter",
    async (_title, shares, price) => {
      const figures = await decidedBy(parties, shares, price);
      expect(figures).toMatchObject({ as_arbiter: { decided: 0, passed: 0 } });
      const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
      expect(Number((body["totals"] as { fees: number }).fees)).toBeLessThan(0.01);
    },
  );

  test("decisions that pay a part count for their arbiter, and so do all of a submitter that paid before", async () => {
    expect(await decidedBy(parties, [0.5, 1])).toMatchObject({ as_arbiter: { decided: 2 } });
    expect(await decidedBy(parties, [0, 0.000001])).toMatchObject({ as_arbiter: { decided: 4 } });
  });

  test("the operator answers for its decision of any sum", async () => {
    const own = await createOwnWorker(0.000001);
    await ruleAsOperator(t, await beginDispute(t, own, { named: false }), 0);
    const { body } = await t.request("GET", "/.well-known/agent-relay.json");
    expect(body["disputes"]).toMatchObject({ opened: 1, decided: 1, undecided: 0 });
  });
});

describe("arbiters that leave cases undecided", () => {
  const ask = async () => {
    const acceptance = { arbiter_id: parties.arbiter.agentId };
    return (await submitTask(t, parties.boss, parties.worker, { acceptance })).body["code"];
  };

  async function letPass(among: Parties, count: number): Promise<void> {
    const cases = [];
    for (let begun = 0; begun < count; begun += 1) cases.push(await beginDispute(t, among));
    await passDeadline(t, cases[0]!);
    expect((await getCase(t, cases[0]!)).arbiter_id).not.toBe(among.arbiter.agentId);
  }

  test("IS36: many disputes about negligible sums do not suspend an arbiter that leaves them undecided", async () => {
    const own = await createOwnWorker(0.000001);
    await letPass(own, 19);
    expect(await ask()).toBeUndefined();
    expect(await inspectionsOf(own.arbiter)).toMatchObject({ as_arbiter: { passed: 0 } });
    await expectConsistentBooks(t);
  });

  test.each([
    [
      "A29: a decision that costs its parties nothing does not end",
      0,
      "acceptance.arbiter_invalid",
    ],
    ["a decision that pays for work ends", 1, undefined],
  ])("%s the suspension of an arbiter", async (_title, share, code) => {
    const passed = await beginDispute(t, parties);
    for (let begun = 1; begun < 3; begun += 1) await beginDispute(t, parties);
    await t.clock.advance(1_000);
    const other = { ...(await createOwnWorker(2)), boss: await createBuyer(t, 10) };
    const late = await beginDispute(t, other);
    await passDeadline(t, passed);
    expect(await ask()).toBe("acceptance.arbiter_invalid");
    expect((await decide(t, late, share)).status).toBe(200);
    expect(await ask()).toBe(code);
  });

  test("IS36: many disputes about negligible sums do not prolong the suspension of an arbiter", async () => {
    await letPass(parties, 3);
    expect(await ask()).toBe("acceptance.arbiter_invalid");
    await t.clock.advance(7 * 86_400_000);
    await letPass(await createOwnWorker(0.000001), 3);
    expect(await ask()).toBeUndefined();
  });

  test(
    "IS36: many disputes about negligible sums do not exclude an arbiter from a valuable one",
    { timeout: 60_000 },
    async () => {
      const own = await createOwnWorker(0.000001);
      const fillPlaces = async () => {
        const boss = await createBuyer(t, 1);
        for (let count = 0; count < 17; count += 1) await beginDispute(t, { ...own, boss });
      };
      await Promise.all(Array.from({ length: 6 }, fillPlaces));
      const waiting = await t.asOperator("GET", "/api/v1/admin/disputes");
      expect(waiting.body["inspections"]).toHaveLength(2);
      const valuable = await beginDispute(t, parties);
      expect((await getCase(t, valuable)).arbiter_id).toBe(parties.arbiter.agentId);
    },
  );
});
