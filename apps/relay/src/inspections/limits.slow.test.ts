import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  type Case,
  createOneOwner,
  createParties,
  decide,
  getCase,
  giveVerdict,
  type Parties,
  putOffer,
} from "../../test/inspections.ts";
import { createBuyer, expectConsistentBooks, submitTask } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

/** The parties of the further cases, by their relation to the submitter. */
async function createFurther(kind: string, others: Parties, own: Parties): Promise<Parties> {
  if (kind === "own") return own;
  if (kind === "cheap") await putOffer(t, own.arbiter, { price: 0.000001 });
  return kind === "cheap" ? { ...others, worker: own.arbiter } : others;
}

test.each([
  ["IS4: a tenth of the cases with other agents may be rejected", "paid", 201],
  ["IS14: cases between agents that count as one allow no further rejections", "own", 429],
  ["IS35: cases about negligible sums allow no further rejections", "cheap", 429],
  ["IS35: cases that are still open allow no further rejections", "open", 429],
])(
  "%s",
  async (_title, kind, status) => {
    const own = await createOneOwner(t, parties);
    const others = { ...(await createParties(t)), boss: own.boss };
    await t.deposit(own.boss, 900);
    const begin = (count: number, among: Parties) =>
      Promise.all(Array.from({ length: count }, () => beginCase(t, among)));
    const rejected = await begin(21, others);
    const further = await begin(205, await createFurther(kind, others, own));
    if (kind !== "open") {
      await Promise.all(further.map((given) => giveVerdict(t, given, "accepted")));
    }
    const ask = async () =>
      (await submitTask(t, own.boss, others.worker, { acceptance: {} })).status;
    for (const given of rejected.slice(0, 20)) await giveVerdict(t, given, "rejected");
    expect(await ask()).toBe(status);
    await giveVerdict(t, rejected[20]!, "rejected");
    expect(await ask()).toBe(429);
  },
  60_000,
);

test(
  "IS15: an arbiter has at most 100 cases of one size, even if they are contested at once",
  { timeout: 120_000 },
  async () => {
    const { worker, arbiter } = parties;
    await t.deposit(worker, 50);
    const rejected: Case[] = [];
    for (let buyer = 0; buyer < 6; buyer += 1) {
      const boss = await createBuyer(t, 100);
      for (let count = 0; count < 17; count += 1) {
        const given = await beginCase(t, { ...parties, boss }, { arbiter_id: arbiter.agentId });
        await giveVerdict(t, given, "rejected");
        rejected.push(given);
      }
    }
    const answers = await Promise.all(rejected.map((given) => giveVerdict(t, given, "contested")));
    const arbiters = answers.map(({ body }) => body["arbiter_id"]);
    expect(arbiters.filter((id) => id === arbiter.agentId)).toHaveLength(100);
    const waiting = await t.asOperator("GET", "/api/v1/admin/disputes");
    expect(waiting.body["inspections"]).toHaveLength(2);
    // A decision makes room for the next case.
    const mine = rejected[arbiters.indexOf(arbiter.agentId)]!;
    await decide(t, mine, 1);
    const next = await beginDispute(t, { ...parties, boss: await createBuyer(t, 10) });
    expect((await getCase(t, next)).arbiter_id).toBe(arbiter.agentId);
    await expectConsistentBooks(t);
  },
);
