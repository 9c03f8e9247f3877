import { toBase64Url } from "@agent/crypto";
import { createReceipt, createTestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createKeylessSeller,
  createSeller,
  getTaskAt,
} from "../../../test/market.ts";
import {
  openReceiptFixture,
  matchRefusal,
  type ReceiptChange,
  type ReceiptFixture,
} from "../../../test/receipt-fixture.ts";

/** The balances of boss and worker once the task is paid for. */
const paid = [8, 1.9];

let s: ReceiptFixture;
beforeEach(async () => {
  s = await openReceiptFixture();
});
afterEach(() => s.t.close());

const badSignature = matchRefusal(403, "receipt.signature_invalid");
const mismatch = matchRefusal(400, "receipt.task_mismatch");
const notParticipant = matchRefusal(403, "task.not_participant");

describe("a receipt for another task", () => {
  test("RC1 a receipt of task A is refused at task B", async () => {
    const other = await submitAcceptedTask(s.t, await createBuyer(s.t, 10), s.worker);
    expect(await s.expectNoEffect(() => s.post(createReceipt(s.worker, other)))).toMatchObject(
      mismatch,
    );
    expect((await s.post(createReceipt(s.worker, other), other.path)).status).toBe(200);
  });

  test.each<[string, ReceiptChange]>([
    ["relay_task_id is another's", { relay_task_id: "019b7d21-53eb-7c81-b2f1-75174603c805" }],
    ["relay_task_id is missing", { relay_task_id: undefined }],
    ["task_id is another's", { task_id: "019b7d21-53eb-7c81-b2f1-75174603c805" }],
  ])("RC1 a receipt is refused when %s", async (_, change) => {
    expect(await s.expectNoEffect(() => s.post(s.receipt(change)))).toMatchObject(mismatch);
  });

  test.each([
    ["an unknown task", () => `/agent/${s.worker.agentId}/task/unknown`],
    ["another target", () => `/agent/${s.boss.agentId}/task/${s.task.task_id}`],
  ])("RC1 a receipt at %s is answered with 404", async (_, path) => {
    expect(await s.expectNoEffect(() => s.post(s.receipt(), path()))).toMatchObject(
      matchRefusal(404, "task.not_found"),
    );
  });
});

describe("logs of refused receipts", () => {
  test.each<[string, () => object, string]>([
    [
      "no known key signed",
      () => s.signed(s.unsigned(), s.stranger.secretKey),
      "signature_invalid",
    ],
    ["has an unknown suite", () => ({ ...s.receipt(), suite: "other" }), "suite"],
  ])("the log has receipt.verification_failed when the receipt %s", async (_, receipt, reason) => {
    await s.post(receipt());
    expect(s.t.listLogged("receipt.verification_failed")).toMatchObject([
      { level: "warn", correlationId: s.task.task_id, code: `receipt.${reason}` },
    ]);
  });

  test.each<[string, () => object, string]>([
    ["is another task's", () => s.receipt({ relay_task_id: "other" }), "task_mismatch"],
    ["is out of time", () => s.receipt({ submitted_at: 0, completed_at: 3_600_001 }), "span"],
    ["is a stranger's", () => createReceipt(s.stranger, s.task), "wrong_agent"],
  ])("the log has receipt.refused when the receipt %s", async (_, receipt, reason) => {
    await s.post(receipt());
    expect(s.t.listLogged("receipt.verification_failed")).toEqual([]);
    expect(s.t.listLogged("receipt.refused")).toMatchObject([
      { level: "warn", correlationId: s.task.task_id, code: `receipt.${reason}` },
    ]);
  });
});

describe("a receipt by another agent", () => {
  test("RC4 a receipt of a stranger's key in the executor's name is refused, and its key stays", async () => {
    const { publicKey: public_key, secretKey } = s.stranger;
    const forged = s.signed(s.unsigned({ public_key }), secretKey);
    expect(await s.expectNoEffect(() => s.post(forged))).toMatchObject(badSignature);
    const { body } = await s.t.asOperator("GET", `/api/v1/agents/${s.worker.agentId}`);
    expect(body).toMatchObject({ public_key: s.worker.publicKey });
  });

  test("RC4 a stranger's own receipt for the task is refused", async () => {
    const forged = s.signed(s.unsigned({ public_key: s.stranger.publicKey }), s.stranger.secretKey);
    const path = `${s.task.path}/result`;
    expect(await s.expectNoEffect(() => s.t.as(s.stranger, "POST", path, forged))).toMatchObject(
      notParticipant,
    );
  });

  test("RC5 a receipt of a registered stranger in its own name is refused", async () => {
    const own = createReceipt(s.stranger, s.task);
    expect(await s.expectNoEffect(() => s.post(own))).toMatchObject(
      matchRefusal(403, "receipt.wrong_agent"),
    );
  });

  test("RC5 a receipt of an unknown agent is refused", async () => {
    const unknown = createTestAgent({
      ...s.t.clock,
      randomBytes: (n) => new Uint8Array(n).fill(9),
    });
    const own = createReceipt(unknown, s.task);
    expect(await s.expectNoEffect(() => s.post(own))).toMatchObject(
      matchRefusal(403, "receipt.wrong_agent"),
    );
  });

  test("RC5 a receipt of the target is refused once another executor was assigned", async () => {
    const executor = await createSeller(s.t, { count: 1 });
    const routed = await submitAcceptedTask(s.t, s.boss, s.worker, {
      required_capabilities: ["count"],
    });
    const early = await s.post(createReceipt(s.worker, routed), routed.path);
    expect(early).toMatchObject(matchRefusal(403, "receipt.wrong_agent"));
    expect((await s.post(createReceipt(executor, routed), routed.path)).status).toBe(200);
  });

  test("RC6 a receipt that embeds the executor's key but is signed by another key is refused", async () => {
    expect(
      await s.expectNoEffect(() => s.post(s.signed(s.unsigned(), s.stranger.secretKey))),
    ).toMatchObject(badSignature);
  });

  test("RC23 a receipt that the delegator posts is refused even with a valid signature", async () => {
    const path = `${s.task.path}/result`;
    expect(await s.expectNoEffect(() => s.t.as(s.boss, "POST", path, s.receipt()))).toMatchObject(
      notParticipant,
    );
  });
});

describe("the key of a receipt", () => {
  test("RC7 a receipt may omit its key, because the registry has it", async () => {
    expect(await s.balancesAfter(s.receipt({ public_key: undefined }))).toEqual(paid);
  });

  test("RC7 the key of a receipt is found for any device that the receipt names", async () => {
    expect(await s.balancesAfter(s.receipt({ device_id: "a device of no relay" }))).toEqual(paid);
  });

  test("an embedded key counts for an agent that was never bootstrapped, but moves no money or trust", async () => {
    const unknown = createTestAgent({
      ...s.t.clock,
      randomBytes: (n) => new Uint8Array(n).fill(9),
    });
    const listing = { capabilities: ["count"], pricing: [], description: "" };
    await s.t.asOperator("POST", `/api/v1/agents/${unknown.agentId}/listing`, listing);
    const before = await getAgentStates(s.t, [s.boss, s.worker]);
    const free = await submitAcceptedTask(s.t, s.boss, unknown);
    expect((await s.post(createReceipt(unknown, free), free.path)).status).toBe(200);
    expect(await getTaskAt(s.t, free.path)).toMatchObject({ status: "completed" });
    expect(await getAgentStates(s.t, [s.boss, s.worker])).toEqual(before);
  });

  test("A1: only a bootstrapped agent can end a task with a hold", async () => {
    const unknown = await createKeylessSeller(s.t);
    const priced = await submitAcceptedTask(s.t, s.boss, unknown);
    const before = await getAgentStates(s.t, [s.boss, unknown]);
    const receipt = createReceipt(unknown, priced);
    expect(await s.post(receipt, priced.path)).toMatchObject(
      matchRefusal(403, "receipt.key_missing"),
    );
    expect(await getAgentStates(s.t, [s.boss, unknown])).toEqual(before);
    expect(await getTaskAt(s.t, priced.path)).toMatchObject({ status: "pending" });

    await s.t.request("POST", "/api/v1/agents/bootstrap", {
      body: { agent_id: unknown.agentId, public_key: unknown.publicKey },
    });
    expect(await s.post(receipt, priced.path)).toMatchObject({ status: 200 });
    expect(await s.t.getBalance(unknown)).toBe(0.95);
  });

  test("RC10 a signature under a small-order key is refused, even for an unknown agent", async () => {
    const unknown = createTestAgent({
      ...s.t.clock,
      randomBytes: (n) => new Uint8Array(n).fill(9),
    });
    const free = await submitAcceptedTask(s.t, s.boss, unknown);
    const public_key = `01${"00".repeat(31)}`;
    const forged = {
      ...createReceipt(unknown, free, { public_key }),
      // R is the identity and S is 0, which satisfies the plain equation for any message.
      signature: toBase64Url(Uint8Array.from({ length: 64 }, (_, i) => (i === 0 ? 1 : 0))),
    };
    expect(await s.post(forged, free.path)).toMatchObject(badSignature);
  });
});

describe("a receipt that was accepted", () => {
  test("RC2 an accepted receipt gets the same answer the second time, and settles once", async () => {
    expect(await s.balancesAfter()).toEqual(paid);
    const before = await getAgentStates(s.t, [s.boss, s.worker]);
    for (let i = 0; i < 3; i++) {
      expect(await s.post(s.receipt())).toMatchObject({
        status: 200,
        body: { status: "completed" },
      });
    }
    expect(await getAgentStates(s.t, [s.boss, s.worker])).toEqual(before);
    expect(before[1]?.settlements).toHaveLength(1);
  });

  test("RC2 an accepted receipt ends the task: any other receipt for it is answered with 409", async () => {
    expect(await s.balancesAfter()).toEqual(paid);
    const before = await getAgentStates(s.t, [s.boss, s.worker]);
    for (const change of [{ result: "better" }, { status: "failed" }] as const) {
      expect(await s.post(s.receipt(change))).toMatchObject(
        matchRefusal(409, "task.already_finished"),
      );
    }
    expect(await getAgentStates(s.t, [s.boss, s.worker])).toEqual(before);
  });

  test.each([
    ["failed", "refunded"],
    ["denied", "refunded"],
  ] as const)(
    "a receipt with the status %s gives the task that status and returns the whole hold",
    async (status, settled) => {
      expect(await s.post(s.receipt({ status }))).toMatchObject({ status: 200, body: { status } });
      expect(await getTaskAt(s.t, s.task.path)).toMatchObject({ status });
      const [payer, payee] = await getAgentStates(s.t, [s.boss, s.worker]);
      expect([payer?.balance, payer?.pending_allocations, payee?.balance]).toEqual([10, 0, 0]);
      expect(payer?.settlements).toMatchObject([
        { status: settled, amount_settled: 0, fee: 0, net: 0 },
      ]);
      expect(payee?.transactions).toEqual([]);
      await expectConsistentBooks(s.t, { holds: 0, fees: 0 });
    },
  );

  test("an accepted receipt leaves a settlement, its postings and its log lines", async () => {
    expect(await s.balancesAfter()).toEqual(paid);
    const [payer, payee] = await getAgentStates(s.t, [s.boss, s.worker]);
    expect(payer?.settlements).toEqual(payee?.settlements);
    expect(payee?.settlements).toMatchObject([
      { task_id: s.task.task_id, status: "completed", amount_settled: 2, fee: 0.1, net: 1.9 },
    ]);
    expect(payer?.transactions).toMatchObject([
      { type: "settlement_debit", amount: -2, balance_after: 8 },
      { type: "allocation_release", amount: 2.4, balance_after: 10 },
      { type: "allocation_hold", amount: -2.4, balance_after: 7.6 },
      { type: "deposit", amount: 10, balance_after: 10 },
    ]);
    expect(payee?.transactions).toMatchObject([
      { type: "settlement_credit", amount: 1.9, balance_after: 1.9 },
    ]);
    expect(s.t.listLogged("receipt.verified")).toMatchObject([{ correlationId: s.task.task_id }]);
    expect(s.t.listLogged("settlement.created")).toMatchObject([
      { correlationId: s.task.task_id, net: 1.9, fee: 0.1 },
    ]);
  });

  test("RC19 an agent that delegates to itself loses only the fee and gains no trust", async () => {
    await s.t.deposit(s.worker, 10);
    const own = await submitAcceptedTask(s.t, s.worker, s.worker);
    expect(await s.t.getBalance(s.worker)).toBe(7.6);
    expect(
      (await s.t.as(s.worker, "POST", `${own.path}/result`, createReceipt(s.worker, own))).status,
    ).toBe(200);
    expect(await s.t.getBalance(s.worker)).toBe(9.9);
    expect((await getAgentStates(s.t, [s.worker]))[0]?.trust).toEqual([]);
    await expectConsistentBooks(s.t, { fees: 0.1 });
  });

  test.each(["completed", "failed"] as const)(
    "RC24 a %s receipt leads to no credential while the relay issues none",
    async (status) => {
      expect((await s.post(s.receipt({ status }))).body).toEqual({ status });
    },
  );

  test("RC23 a receipt may be posted by the target, the executor or the operator", async () => {
    const executor = await createSeller(s.t, { count: 1 });
    for (const by of [s.worker, executor]) {
      const routed = await submitAcceptedTask(s.t, s.boss, s.worker, {
        required_capabilities: ["count"],
      });
      const delivered = createReceipt(executor, routed);
      expect((await s.t.as(by, "POST", `${routed.path}/result`, delivered)).status).toBe(200);
    }
  });
});
