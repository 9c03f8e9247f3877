import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Case, deliver, getCase, giveVerdict, putOffer } from "../../test/inspections.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";
import { openX402Fixture, type X402Fixture } from "../../test/payments/x402-fixture.ts";

let s: X402Fixture;
beforeEach(async () => {
  s = await openX402Fixture();
  await putOffer(s.t, s.worker);
});
afterEach(() => s.close());

const inspected = { prompt: "work", acceptance: {} };

describe("an x402 payment for an inspected task", () => {
  test("an x402 payment for an inspected task includes the arbitration fee, and covers the hold", async () => {
    const asked = await s.submit({ body: inspected });
    expect(asked).toMatchObject({
      status: 402,
      body: { estimated_cost: 2.1, accepts: [{ amount: "2100000" }] },
    });
    const headers = await s.wallet.pay(asked.headers);
    const paid = await s.submit({ body: inspected, headers });
    expect(paid).toMatchObject({ status: 201, body: { estimated_cost: 2, amount_locked: 2.1 } });
    const task_id = String(paid.body["task_id"]);
    const path = `/agent/${s.worker.agentId}/task/${task_id}`;
    const task = { task_id, prompt: "work", submitted_at: s.t.clock.now(), path };
    const arbiter = s.t.createUnknownAgent();
    const given: Case = await deliver(s.t, {
      boss: s.boss,
      worker: s.worker,
      arbiter,
      task,
      receiptHash: "",
    });
    await giveVerdict(s.t, given, "rejected");
    await giveVerdict(s.t, given, "conceded");
    expect(await getCase(s.t, given)).toMatchObject({ state: "closed" });
    expect(await s.t.getBalance(s.boss)).toBe(2.6);
    await expectConsistentBooks(s.t, { deposits: 2.6, holds: 0 });
  });

  test("an x402 payment without the arbitration fee is refused for an inspected task and not settled", async () => {
    const plain = await s.submit();
    const headers = await s.wallet.pay(plain.headers);
    const refused = await s.submit({ body: inspected, headers });
    expect(refused).toMatchObject({ status: 402, body: { code: "payment.mismatch" } });
    expect(s.facilitator.settled.size).toBe(0);
    expect(await s.t.getBalance(s.boss)).toBe(0.5);
  });

  test("no x402 payment for an inspected task is requested from a wallet, because it cannot sign a verdict", async () => {
    // The wallet pays for a task without a submitter, or for one of an agent that is not known here.
    for (const submitted_by of [undefined, s.t.createUnknownAgent().agentId]) {
      const body = { ...inspected, ...(submitted_by !== undefined && { submitted_by }) };
      const refused = await s.submit({ token: OPERATOR_TOKEN, body });
      expect(refused).toMatchObject({ status: 400, body: { code: "acceptance.not_offered" } });
      expect(refused.headers.has("payment-required")).toBe(false);
    }
  });
});
