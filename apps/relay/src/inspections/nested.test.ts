import type { ExecutionReceipt } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  beginCase,
  type Case,
  createParties,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  submitInspected,
} from "../../test/inspections.ts";
import { expectConsistentBooks, type Delegation } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
/** The worker of the outer task delegates to the worker of the inner one. */
let outer: Parties;
let inner: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  outer = await createParties(t);
  await t.deposit(outer.worker, 9);
  inner = { ...(await createParties(t)), boss: outer.worker };
});
afterEach(() => t.close());

const deliverNested = async (task: Delegation, receipt: ExecutionReceipt) => {
  const answer = await t.as(outer.worker, "POST", `${task.path}/result`, receipt);
  expect(answer).toMatchObject({ status: 200 });
};

const balances = (agents: readonly TestAgent[]) =>
  Promise.all(agents.map((agent) => t.getBalance(agent)));

const withHash = async (given: Case): Promise<Case> => ({
  ...given,
  receiptHash: (await getCase(t, given)).receipt_hash,
});

const verifyEvidence = async ({ boss, task }: Case) =>
  verifyArtifact((await t.as(boss, "GET", `${task.path}/evidence`)).text);

describe("nested inspections", () => {
  test("one receipt begins both nested inspections, and each closes by its own statements", async () => {
    const [given, sub] = [await submitInspected(t, outer), await submitInspected(t, inner)];
    const nested = createReceipt(inner.worker, sub.task);
    const receipt = createReceipt(outer.worker, given.task, { delegation_receipts: [nested] });
    await deliverNested(given.task, receipt);
    const [mine, theirs] = [await withHash(given), await withHash(sub)];
    // Each submitter holds what is due and its fee: 2.1 of 10.
    expect(await balances([outer.boss, outer.worker])).toEqual([7.9, 7.9]);

    // The inner case is rejected while the outer one is still inspected.
    await giveVerdict(t, theirs, "rejected", { offer: 0.25 });
    await giveVerdict(t, theirs, "conceded");
    expect(await getCase(t, mine)).toMatchObject({ state: "inspecting" });
    expect(await verifyEvidence(theirs)).toMatchObject({ valid: true });
    await giveVerdict(t, mine, "accepted");
    expect(await verifyEvidence(mine)).toMatchObject({ valid: true });
    // 10 - 0.5 for the inner work + 1.9 for its own.
    expect(await balances([outer.boss, outer.worker, inner.worker])).toEqual([8, 11.4, 1.475]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("an executor is paid for its own work although it has rejected that of its sub-agent", async () => {
    const sub = await beginCase(t, inner);
    const given = await submitInspected(t, outer);
    const evidence = await t.asOperator("GET", sub.task.path);
    const nested = evidence.body["receipt"] as ExecutionReceipt;
    const receipt = createReceipt(outer.worker, given.task, { delegation_receipts: [nested] });
    await giveVerdict(t, sub, "rejected");
    await deliverNested(given.task, receipt);
    // The receipt was delivered before, so its inspection did not begin again.
    expect(await getCase(t, sub)).toMatchObject({ state: "rejected" });
    const mine = await withHash(given);
    await passDeadline(t, mine);
    expect(await getCase(t, mine)).toMatchObject({ outcome: { outcome: "lapsed" } });
    await passDeadline(t, sub);
    expect(await getCase(t, sub)).toMatchObject({ outcome: { outcome: "unanswered", share: 0 } });
    expect(await balances([outer.boss, outer.worker, inner.worker])).toEqual([8, 11.9, 1]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("an inner task without terms is settled at once, inside a receipt that is inspected", async () => {
    const given = await submitInspected(t, outer);
    const path = `/agent/${inner.worker.agentId}/task`;
    const sent = await t.as(inner.boss, "POST", path, { prompt: "work" });
    const task_id = String(sent.body["task_id"]);
    const task = { task_id, prompt: "work", submitted_at: t.clock.now() };
    const nested = createReceipt(inner.worker, task);
    await deliverNested(
      given.task,
      createReceipt(outer.worker, given.task, { delegation_receipts: [nested] }),
    );
    expect(await balances([outer.worker, inner.worker])).toEqual([8, 2.9]);
    expect(await getCase(t, given)).toMatchObject({ state: "inspecting" });
    await expectConsistentBooks(t, { holds: 2.1 });
  });
});
