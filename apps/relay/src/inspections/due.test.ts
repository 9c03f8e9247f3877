import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  type Case,
  createParties,
  decide,
  deliver,
  getCase,
  giveVerdict,
  type Parties,
  submitInspected,
} from "../../test/inspections.ts";
import { createLedger, storeLedger } from "../../test/agents/ledgers.ts";
import { expectConsistentBooks, getAgentStates, getTaskAt } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

const settlementsOf = async ({ boss }: Pick<Case, "boss">) =>
  (await getAgentStates(t, [boss]))[0]?.settlements;

describe("the due sum of an inspected task", () => {
  test("an inspected task without a completed step is refunded at once and without an inspection", async () => {
    const submitted = await submitInspected(t, parties);
    const { boss, worker, task } = submitted;
    await storeLedger(t, worker, createLedger(worker, task.task_id, ["failed"]));
    const receipt = createReceipt(worker, task);
    expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
    expect((await t.as(boss, "GET", `${task.path}/inspection`)).status).toBe(404);
    expect(await settlementsOf(submitted)).toMatchObject([{ status: "refunded" }]);
    expect(await t.getBalance(boss)).toBe(10);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("the due sum of an inspected task follows from the ledger at the time of the receipt, not from a later one", async () => {
    const submitted = await submitInspected(t, parties);
    const { worker, task } = submitted;
    const half = createLedger(worker, task.task_id, ["completed", "failed"]);
    await storeLedger(t, worker, half);
    const given = await deliver(t, submitted);
    const outcomes = ["completed", "failed", "completed", "completed"] as const;
    const later = createLedger(worker, task.task_id, outcomes);
    expect((await storeLedger(t, worker, later)).status).toBe(201);
    await giveVerdict(t, given, "accepted");
    expect(await getCase(t, given)).toMatchObject({ due: 1, fee: 0.05 });
    expect(await settlementsOf(given)).toMatchObject([{ status: "partial", amount_settled: 1 }]);
  });

  test("the due sum of an inspected task stays the price if the first ledger is stored after the receipt", async () => {
    const given = await beginCase(t, parties);
    const { worker, task } = given;
    await storeLedger(t, worker, createLedger(worker, task.task_id, ["failed"]));
    await giveVerdict(t, given, "accepted");
    expect(await settlementsOf(given)).toMatchObject([{ status: "completed", amount_settled: 2 }]);
    const { text } = await t.asOperator("GET", `${task.path}/evidence`);
    expect(verifyArtifact(text)).toMatchObject({ valid: true });
  });
});

describe("the bond of a contest", () => {
  test("a contest without its bond is refused and changes nothing, so that it may be repeated", async () => {
    const given = await beginCase(t, parties);
    const { worker } = given;
    const path = `/api/v1/agents/${worker.agentId}/withdrawals`;
    expect((await t.as(worker, "POST", path, { amount: 0.95, destination: "bank" })).status).toBe(
      201,
    );
    await giveVerdict(t, given, "rejected", { offer: 0.25 });
    const before = await getCase(t, given);
    const refused = await giveVerdict(t, given, "contested");
    expect(refused).toMatchObject({ status: 402, body: { code: "dispute.bond_required" } });
    const until = new Date(before.deadline ?? 0).toISOString();
    expect(refused.body["message"]).toBe(
      `Insufficient funds for the bond of a contest: deposit to the account: 0.1 USD until ${until}`,
    );
    expect(await getCase(t, given)).toEqual(before);
    expect(await t.getBalance(worker)).toBe(0.05);
    await t.deposit(worker, 0.05);
    expect((await giveVerdict(t, given, "contested")).status).toBe(200);
    expect(await t.getBalance(worker)).toBe(0);
  });

  test("the postings of the bond and the fee refer to the dispute, and all others to the task", async () => {
    const given = await beginDispute(t, parties);
    await decide(t, given, 0.75);
    const listOf = async (who: keyof Parties) =>
      (await getAgentStates(t, [parties[who]]))[0]?.transactions ?? [];
    const worker = await listOf("worker");
    const bond = worker.find(({ type }) => type === "allocation_hold");
    const reference_id = bond?.reference_id;
    expect(reference_id).not.toBe(given.task.task_id);
    const arbitration = { reference_id, description: "arbitration" };
    expect(worker).toContainEqual(expect.objectContaining({ ...arbitration, amount: 0.1 }));
    expect(await listOf("arbiter")).toMatchObject([{ type: "settlement_credit", ...arbitration }]);
    const paid = worker.find(({ type }) => type === "settlement_credit");
    expect(paid).toMatchObject({ reference_id: given.task.task_id, amount: 1.425 });
  });
});

describe("the terms of an inspection", () => {
  test("the terms of an inspection stay those of the submission if the listing is removed before the receipt", async () => {
    const submitted = await submitInspected(t, parties);
    const { worker, task } = submitted;
    const { acceptance } = await getTaskAt(t, task.path);
    await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/listing`, { capabilities: [] });
    const given = await deliver(t, submitted);
    expect(await getCase(t, given)).toMatchObject({ terms: acceptance, due: 2, fee: 0.1 });
  });

  test("the terms of an inspection stay those of the submission if the relay restarts with other rates and times", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-terms-"));
    const AGENT_DB_PATH = join(folder, "relay.db");
    let other = await startTestRelay({ AGENT_DB_PATH });
    const submitted = await submitInspected(other, await createParties(other));
    await other.close();
    const changed = {
      AGENT_DISPUTE_FEE_RATE: "0.5",
      AGENT_DISPUTE_ANSWER_MS: "1000",
      AGENT_PLATFORM_FEE_RATE: "0.5",
    };
    other = await startTestRelay({ AGENT_DB_PATH, ...changed }, 2, other.clock);
    const given = await deliver(other, submitted);
    await giveVerdict(other, given, "rejected", { offer: 0.5 });
    const { deadline, fee } = await getCase(other, given);
    expect([fee, (deadline ?? 0) - other.clock.now()]).toEqual([0.1, 259_200_000]);
    await giveVerdict(other, given, "conceded");
    expect(await other.getBalance(given.worker)).toBe(1.95);
    await other.close();
    rmSync(folder, { recursive: true });
  });
});
