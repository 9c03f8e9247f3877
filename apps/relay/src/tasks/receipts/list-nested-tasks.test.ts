import type { ExecutionReceipt } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { verifyArtifact, type EvidenceBundle } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
let helper: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker, helper] = [
    await createBuyer(t, 20),
    await createSeller(t, 2),
    await createSeller(t, 1),
  ];
  await t.deposit(worker, 10);
});
afterEach(() => t.close());

async function deliver(by: TestAgent, { path }: Delegation, receipt: ExecutionReceipt) {
  expect(await t.as(by, "POST", `${path}/result`, receipt)).toMatchObject({ status: 200 });
}

/**
 * Returns the evidence of a task of the worker that nests this receipt, and a verifier's findings.
 */
async function nesting(nested: ExecutionReceipt) {
  const task = await submitAcceptedTask(t, boss, worker);
  await deliver(worker, task, createReceipt(worker, task, { delegation_receipts: [nested] }));
  const bundle = (await t.as(boss, "GET", `${task.path}/evidence`))
    .body as unknown as EvidenceBundle;
  const { valid, checks } = verifyArtifact(bundle);
  return { bundle, valid, hopBound: checks.find(({ name }) => name === "hop_bound") };
}

const mismatch = { name: "hop_bound", ok: false, code: "bundle.hop_mismatch" };

test("D4: evidence names the submitter and the executor of a nested task, and hop_bound holds", async () => {
  const inner = await submitAcceptedTask(t, worker, helper);
  const { bundle, valid, hopBound } = await nesting(createReceipt(helper, inner));
  expect(bundle.nested_tasks).toEqual([
    { task_id: inner.task_id, submitted_by: worker.agentId, executor: helper.agentId },
  ]);
  expect({ valid, hopBound }).toEqual({ valid: true, hopBound: { name: "hop_bound", ok: true } });
});

test("D4: hop_bound fails for the receipt of a task that another agent submitted", async () => {
  const other = await createBuyer(t, 10);
  const theirs = await submitAcceptedTask(t, other, helper);
  const receipt = createReceipt(helper, theirs);
  await deliver(helper, theirs, receipt);
  const { bundle, valid, hopBound } = await nesting(receipt);
  expect(bundle.nested_tasks).toEqual([
    { task_id: theirs.task_id, submitted_by: other.agentId, executor: helper.agentId },
  ]);
  expect({ valid, hopBound }).toEqual({ valid: true, hopBound: mismatch });
});

test("D4: evidence with a receipt that merely names another's task reveals none of its agents", async () => {
  const other = await createBuyer(t, 10);
  const theirs = await submitAcceptedTask(t, other, helper);
  const { bundle, hopBound } = await nesting(createReceipt(worker, theirs));
  expect(bundle.nested_tasks).toEqual([
    { task_id: theirs.task_id, submitted_by: null, executor: null },
  ]);
  expect(hopBound).toEqual(mismatch);
});

test("D4: evidence states nothing about an unknown task, and hop_bound is not shown", async () => {
  const elsewhere = {
    ...(await submitAcceptedTask(t, worker, helper)),
    task_id: t.createUnknownAgent().agentId,
  };
  const { bundle, valid, hopBound } = await nesting(createReceipt(helper, elsewhere));
  expect(bundle).not.toHaveProperty("nested_tasks");
  expect({ valid, hopBound }).toEqual({ valid: true, hopBound: undefined });
});
