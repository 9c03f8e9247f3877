import { splitFee, toMicro } from "@agent/budget";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Case,
  createArbiter,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
  ruleAsOperator,
  signDecision,
  submitInspected,
} from "../../test/inspections.ts";
import { createLedger, storeLedger } from "../../test/agents/ledgers.ts";
import { createBuyer, expectConsistentBooks } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const ACTS = ["accept", "reject", "concede", "contest", "decide", "rule", "pass"] as const;
type Act = (typeof ACTS)[number];

const millionths = (max: number) => fc.integer({ min: 0, max }).map((whole) => whole / 1e6);

const randomCase = fc.record({
  price: fc.integer({ min: 1, max: 3_000_000 }).map((whole) => whole / 1e6),
  offer: millionths(999_999),
  share: millionths(1_000_000),
  steps: fc.option(
    fc.array(fc.constantFrom("completed" as const, "failed" as const), {
      minLength: 1,
      maxLength: 3,
    }),
  ),
  acts: fc.array(fc.constantFrom(...ACTS), { maxLength: 8 }),
});

test("random prices, ledgers, shares and acts leave balanced books and make no payment twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        feeRate: fc.constantFrom("0", "0.05", "0.123456", "0.5"),
        feeMin: fc.constantFrom("0", "0.000001", "0.01"),
        platform: fc.constantFrom("0", "0.05", "0.3"),
        cases: fc.array(randomCase, { minLength: 1, maxLength: 4 }),
      }),
      async ({ feeRate, feeMin, platform, cases }) => {
        const t = await startTestRelay({
          AGENT_DISPUTE_FEE_RATE: feeRate,
          AGENT_DISPUTE_FEE_MIN: feeMin,
          AGENT_PLATFORM_FEE_RATE: platform,
        });
        const [boss, worker] = [await createBuyer(t, 100), await createBuyer(t, 10)];
        const parties = { boss, worker, arbiter: await createArbiter(t) };
        for (const each of cases) await playCase(t, parties, each, Number(platform));
        await expectConsistentBooks(t, { deposits: 110, holds: 0 });
        await t.close();
      },
    ),
    { numRuns: 12, seed: 18 },
  );
}, 120_000);

type RandomCase = typeof randomCase extends fc.Arbitrary<infer Value> ? Value : never;

async function playCase(
  t: TestRelay,
  parties: Parties,
  { price, offer, share, steps, acts }: RandomCase,
  platformRate: number,
): Promise<void> {
  const { boss, worker, arbiter } = parties;
  await putOffer(t, worker, { price, arbiters: [arbiter.agentId] });
  const balances = async () => Promise.all([boss, worker].map((agent) => t.getBalance(agent)));
  const [bossBefore = 0, workerBefore = 0] = await balances();
  const submitted = await submitInspected(t, parties, { arbiter_id: arbiter.agentId });
  if (steps !== null) {
    await storeLedger(t, worker, createLedger(worker, submitted.task.task_id, steps));
  }
  const begun = await tryDeliver(t, submitted);
  if (begun === undefined) return;
  const { due } = await getCase(t, begun);
  const perform: Record<Act, () => Promise<unknown>> = {
    accept: () => giveVerdict(t, begun, "accepted"),
    reject: () => giveVerdict(t, begun, "rejected", { offer }),
    concede: () => giveVerdict(t, begun, "conceded"),
    contest: () => giveVerdict(t, begun, "contested"),
    decide: () =>
      t.as(arbiter, "POST", `${begun.task.path}/decision`, signDecision(t, begun, share)),
    rule: () => ruleAsOperator(t, begun, share),
    pass: () => passDeadline(t, begun),
  };
  for (const act of acts) await perform[act]();
  // Every case ends by silence.
  for (let left = 4; left > 0; left -= 1) {
    if ((await getCase(t, begun)).state !== "closed") await passDeadline(t, begun);
  }
  const closed = await getCase(t, begun);
  expect(closed.state).toBe("closed");
  const [bossAfter = 0, workerAfter = 0] = await balances();
  const paid = Math.round(toMicro(due) * (closed.outcome?.share ?? 0));
  const { net } = splitFee(toMicro(paid / 1e6), platformRate);
  const earned = Math.round((workerAfter - workerBefore) * 1e6);
  const spent = Math.round((bossBefore - bossAfter) * 1e6);
  const fee = toMicro(closed.fee);
  expect(earned).toBeLessThanOrEqual(net);
  expect(earned).toBeGreaterThanOrEqual(net - fee);
  expect(spent).toBeGreaterThanOrEqual(paid);
  expect(spent).toBeLessThanOrEqual(paid + fee);
}

/** A ledger may say that nothing is due, and the task is refunded at once. */
async function tryDeliver(t: TestRelay, submitted: Case): Promise<Case | undefined> {
  const { worker, task } = submitted;
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  const { status, body } = await t.asOperator("GET", `${task.path}/inspection`);
  if (status === 404) return undefined;
  return { ...submitted, receiptHash: body["receipt_hash"] as string };
}
