import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalize } from "@agent/crypto";
import { verifySettlementRecord } from "@agent/receipts";
import { createReceipt } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import type { Settlement } from "@agent/wire";
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http";
import { wrapFetchWithPayment } from "@x402/fetch";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editStored } from "../../test/engine/stored.ts";
import {
  expectConsistentBooks,
  putListing,
  createSeller,
  countStatuses,
} from "../../test/market.ts";
import { OPERATOR_TOKEN, startTestRelay } from "../../test/test-relay.ts";
import { PAY_TO, startLocalFacilitator, x402Env } from "../../test/payments/x402-facilitator.ts";
import {
  openX402Fixture,
  waitForPaymentRequest,
  type X402Fixture,
} from "../../test/payments/x402-fixture.ts";

let s: X402Fixture;
beforeEach(async () => {
  s = await openX402Fixture();
});
afterEach(() => s.close());

const pay = async (change = {}) => s.wallet.pay((await s.submit()).headers, change);
const code = (status: number, word: string) => ({ status, body: { code: word } });
const settledCount = () => [...s.facilitator.settled.keys()].length;

describe("A 402 for a task", () => {
  test("a 402 names price, asset and network in header and body", async () => {
    const { status, headers, body } = await s.submit();
    const accepts = [
      {
        scheme: "exact",
        network: "eip155:84532",
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        amount: "2000000",
        payTo: PAY_TO,
        maxTimeoutSeconds: 300,
        extra: { name: "USDC", version: "2" },
      },
    ];
    const url = `http://relay.test/agent/${s.worker.agentId}/task`;
    expect(status).toBe(402);
    expect(body).toMatchObject({
      code: "budget.insufficient",
      estimated_cost: 2,
      x402Version: 2,
      resource: { url },
      accepts,
    });
    const header = decodePaymentRequiredHeader(headers.get("payment-required") ?? "");
    expect(header).toMatchObject({ x402Version: 2, resource: { url }, accepts });
    expect(headers.get("access-control-expose-headers")).toContain("PAYMENT-REQUIRED");
  });

  test("a 402 requests no payment if money cannot remove the reason of the refusal", async () => {
    const reply = await s.submit({ body: { prompt: "work", max_budget: 1 } });
    expect(reply).toMatchObject(code(402, "budget.max_exceeded"));
    expect(reply.headers.has("payment-required")).toBe(false);
  });

  test("a 402 requests no payment at a relay without a wallet", async () => {
    const t = await startTestRelay();
    const worker = await createSeller(t, 1);
    const body = { prompt: "work", submitted_by: s.boss.agentId };
    const reply = await t.asOperator("POST", `/agent/${worker.agentId}/task`, body);
    expect(reply.status).toBe(402);
    expect(reply.headers.has("payment-required")).toBe(false);
    await t.close();
  });
});

describe("A paid submission", () => {
  test("a paid submission verifies and settles the payment, then credits and holds it", async () => {
    const reply = await s.submit({ headers: await pay() });
    expect(reply).toMatchObject({ status: 201, body: { estimated_cost: 2, amount_locked: 2 } });
    const receipt = decodePaymentResponseHeader(reply.headers.get("payment-response") ?? "");
    expect(receipt).toMatchObject({ success: true, payer: s.wallet.address });
    expect(settledCount()).toBe(1);
    expect(await s.t.getBalance(s.boss)).toBe(0.5);
    await expectConsistentBooks(s.t, { deposits: 2.5, balances: 0.5, holds: 2 });
  });

  test("a payment that the official fetch client makes after a 402 is accepted", async () => {
    const { t, wallet, boss, worker } = s;
    const paying = wrapFetchWithPayment(
      async (input, init) => t.relay.fetch(new Request(input, init)),
      wallet.client,
    );
    const answer = await paying(`http://relay.test/agent/${worker.agentId}/task`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await t.token(boss)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ prompt: "work" }),
    });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ status: "pending", amount_locked: 2 });
    expect(settledCount()).toBe(1);
  });

  test("a paid submission is paid from the account if that covers the price, and its proof is not settled", async () => {
    const headers = await pay();
    await s.t.deposit(s.boss, 10);
    const reply = await s.submit({ headers });
    expect(reply.status).toBe(201);
    expect(reply.headers.has("payment-response")).toBe(false);
    expect(settledCount()).toBe(0);
  });

  test.each([
    ["raised", 2.4, code(402, "budget.max_exceeded"), 2.5],
    ["lowered", 1, { status: 201 }, 1.3],
  ])(
    "MN29: a price that is %s while the payment settles costs no more than was paid for",
    async (_, price, answer, balance) => {
      const headers = await pay();
      s.facilitator.mode = "waiting";
      const paying = s.submit({ headers });
      await expect.poll(() => s.facilitator.countWaiting()).toBe(1);
      await putListing(s.t, s.worker, price);
      s.facilitator.release();
      const paid = await paying;
      expect(paid).toMatchObject(answer);
      expect(paid.headers.has("payment-response")).toBe(true);
      expect(await s.t.getBalance(s.boss)).toBe(balance);
      await expectConsistentBooks(s.t, { deposits: 2.5 });
    },
  );

  test("A12: a price that rose after the payer was shown the old one is not taken from the account", async () => {
    const headers = await pay();
    await s.t.deposit(s.boss, 1_000);
    await putListing(s.t, s.worker, 500);
    const raised = await s.submit({ headers });
    expect(raised).toMatchObject(code(402, "payment.mismatch"));
    expect(raised.body).toMatchObject({ accepts: [{ amount: "500000000" }] });
    expect([await s.t.getBalance(s.boss), settledCount()]).toEqual([1_000.5, 0]);
    await putListing(s.t, s.worker, 1);
    expect(await s.submit({ headers })).toMatchObject({ status: 201, body: { estimated_cost: 1 } });
    const own = { prompt: "work", max_budget: 500 };
    await putListing(s.t, s.worker, 500);
    expect(await s.submit({ headers, body: own })).toMatchObject({ status: 201 });
    expect(settledCount()).toBe(0);
  });

  test("a proof is credited once, however often it is sent", async () => {
    const headers = await pay();
    expect(await s.submit({ headers })).toMatchObject({ status: 201 });
    expect(await s.submit({ headers })).toMatchObject(code(409, "payment.reused"));
    await expectConsistentBooks(s.t, { deposits: 2.5, holds: 2 });
  });

  test("a proof that is sent many times concurrently is credited once", async () => {
    const headers = await pay();
    const replies = await Promise.all(Array.from({ length: 6 }, () => s.submit({ headers })));
    expect(countStatuses(replies)[201]).toBe(1);
    expect([...s.facilitator.settled.values()]).toEqual([1]);
    await expectConsistentBooks(s.t, { deposits: 2.5, holds: 2 });
  });

  test("a proof is credited once, whatever other members it contains", async () => {
    const headers = await pay();
    await s.submit({ headers });
    const [name = "", value = ""] = Object.entries(headers)[0] ?? [];
    const payment = JSON.parse(Buffer.from(value, "base64").toString()) as {
      payload: { authorization: { from: string } };
    };
    payment.payload.authorization.from = s.wallet.address.toUpperCase().replace("0X", "0x");
    const other = Buffer.from(JSON.stringify({ ...payment, extensions: {} })).toString("base64");
    const again = await s.submit({ headers: { [name]: other } });
    expect(again).toMatchObject(code(409, "payment.reused"));
    await expectConsistentBooks(s.t, { deposits: 2.5 });
  });

  test("a submission under the operator's token without a payer is paid from the wallet's account", async () => {
    const asOperator = { token: OPERATOR_TOKEN };
    const asked = await s.submit(asOperator);
    expect(asked).toMatchObject(code(402, "budget.no_payer"));
    const headers = await s.wallet.pay(asked.headers);
    expect(await s.submit({ ...asOperator, headers })).toMatchObject({ status: 201 });
    const account = `x402:${s.wallet.address}`;
    const { body } = await s.t.asOperator("GET", `/api/v1/agents/${account}/balance`);
    expect(body).toMatchObject({ balance: 0, pending_allocations: 2 });
  });

  test("no payment is settled if the submission is refused for another reason", async () => {
    const headers = await pay();
    const body = { prompt: "work", max_budget: 1 };
    expect(await s.submit({ headers, body })).toMatchObject(code(402, "budget.max_exceeded"));
    expect(settledCount()).toBe(0);
  });

  test.each<[string, "boss" | "wallet", (payer: string) => [string, number], [number, string]]>([
    ["its agent", "boss", (payer) => [`by:${payer}`, 1_000], [429, "task.submitter_full"]],
    ["its wallet", "wallet", (payer) => [`by:${payer}`, 1_000], [429, "task.submitter_full"]],
    ["the relay, for an agent", "boss", () => ["all", 100_000], [503, "task.relay_full"]],
    ["the relay, for a wallet", "wallet", () => ["all", 100_000], [503, "task.relay_full"]],
  ])(
    "MN26: no payment is taken for a task if %s has no free slot",
    async (_, payer, counter, [status, word]) => {
      await s.close();
      const folder = mkdtempSync(join(tmpdir(), "relay-x402-"));
      const path = join(folder, "relay.db");
      s = await openX402Fixture({ AGENT_DB_PATH: path });
      const options = payer === "wallet" ? { token: OPERATOR_TOKEN } : {};
      const { headers } = await s.submit(options);
      const paying = { ...options, headers: await s.wallet.pay(headers) };
      const account = payer === "wallet" ? `x402:${s.wallet.address}` : s.boss.agentId;
      const [scope, live] = counter(account);
      const insert = "INSERT INTO task_counters (scope, live) VALUES (?, ?)";
      await editStored(path, `${insert} ON CONFLICT (scope) DO UPDATE SET live = excluded.live`, [
        scope,
        live,
      ]);
      expect(await s.submit(paying)).toMatchObject(code(status, word));
      expect(settledCount()).toBe(0);
      await editStored(path, "DELETE FROM task_counters");
      expect(await s.submit(paying)).toMatchObject({ status: 201 });
      expect(settledCount()).toBe(1);
      rmSync(folder, { recursive: true });
    },
  );
});

describe("Settlements of paid submissions", () => {
  const settle = async ({ body }: { readonly body: Record<string, unknown> }) => {
    const { t, boss, worker } = s;
    const task_id = String(body["task_id"]);
    const path = `/agent/${worker.agentId}/task/${task_id}`;
    const receipt = createReceipt(worker, { task_id, prompt: "work", submitted_at: t.clock.now() });
    expect(await t.as(worker, "POST", `${path}/result`, receipt)).toMatchObject({ status: 200 });
    const list = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/settlements`);
    const settlements = list.body["settlements"] as Settlement[];
    const settlement = settlements.find((each) => each.task_id === task_id);
    const evidence = await t.as(boss, "GET", `${path}/evidence`);
    return { settlement, evidence: canonicalize(evidence.body) };
  };

  const relayKey = async () =>
    String((await s.t.request("GET", "/.well-known/agent-relay.json")).body["public_key"]);

  test("B11: a settlement names its transaction and network under the relay's signature, even in the evidence", async () => {
    const reply = await s.submit({ headers: await pay() });
    const { transaction } = decodePaymentResponseHeader(
      reply.headers.get("payment-response") ?? "",
    );
    const { settlement, evidence } = await settle(reply);
    expect(settlement).toMatchObject({
      x402_tx_hash: transaction,
      x402_network: "eip155:84532",
      amount_settled: 2,
    });
    const publicKey = await relayKey();
    expect(verifySettlementRecord(settlement, { publicKey })).toMatchObject({ valid: true });
    const forged = { ...settlement, x402_tx_hash: "0x00" };
    expect(verifySettlementRecord(forged, { publicKey })).toMatchObject({ valid: false });
    expect(evidence).toContain(transaction);
    expect(verifyArtifact(evidence, { publicKey })).toMatchObject({ valid: true });
  });

  test("B11: a settlement paid from the account names no transaction", async () => {
    await s.t.deposit(s.boss, 10);
    const { settlement } = await settle(await s.submit());
    expect(settlement).toMatchObject({ amount_settled: 2 });
    expect(settlement).not.toHaveProperty("x402_tx_hash");
    expect(settlement).not.toHaveProperty("x402_network");
    const publicKey = await relayKey();
    expect(verifySettlementRecord(settlement, { publicKey })).toMatchObject({ valid: true });
  });
});

describe("Refused payments", () => {
  afterEach(() => expectConsistentBooks(s.t, { deposits: 0.5, holds: 0 }));

  test("the relay refuses a malformed payment", async () => {
    for (const junk of ["junk", "e30=", Buffer.from("[]").toString("base64"), "x".repeat(20_000)]) {
      const reply = await s.submit({ headers: { "payment-signature": junk } });
      expect(reply).toMatchObject(code(400, "payment.malformed"));
    }
  });

  test("the relay refuses a payment signed by another wallet", async () => {
    const headers = await pay({ from: `0x${"11".repeat(20)}` });
    const reply = await s.submit({ headers });
    expect(reply).toMatchObject(code(402, "payment.invalid"));
    expect(reply.body["message"]).toContain("invalid_exact_evm_payload_signature");
    expect(reply.headers.has("payment-required")).toBe(true);
  });

  test.each([
    ["to another wallet", { to: `0x${"22".repeat(20)}` }],
    ["of a smaller amount", { value: "1999999" }],
    ["that has expired", { validBefore: "1" }],
  ])("the relay refuses a payment %s", async (_, change) => {
    const headers = await pay(change);
    expect(await s.submit({ headers })).toMatchObject(code(402, "payment.invalid"));
    expect(settledCount()).toBe(0);
  });

  test("the relay refuses a payment for another price than the current one", async () => {
    const headers = await pay();
    await putListing(s.t, s.worker, 3);
    expect(await s.submit({ headers })).toMatchObject(code(402, "payment.mismatch"));
  });

  test("the relay refuses a payment that the facilitator does not settle", async () => {
    const headers = await pay();
    s.facilitator.mode = "refusing";
    const refused = await s.submit({ headers });
    expect(refused).toMatchObject(code(402, "payment.not_settled"));
    expect(refused.body["message"]).toContain("insufficient_funds");
  });

  test("the relay refuses a payment that the facilitator cannot verify", async () => {
    const headers = await pay();
    s.facilitator.mode = "broken";
    const reply = await s.submit({ headers });
    expect(reply).toMatchObject(code(503, "payment.unavailable"));
    expect(reply.headers.get("retry-after")).toBe("30");
  });
});

test("a proof that the facilitator did not settle is accepted in a second attempt", async () => {
  const headers = await pay();
  s.facilitator.mode = "refusing";
  await s.submit({ headers });
  s.facilitator.mode = "well";
  expect(await s.submit({ headers })).toMatchObject({ status: 201 });
  await expectConsistentBooks(s.t, { deposits: 2.5 });
});

describe("Settlements without an answer", () => {
  test("a payment without an answer is charged once, and credited when the facilitator confirms it", async () => {
    const headers = await pay();
    s.facilitator.mode = "silent after settling";
    expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
    expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
    await expectConsistentBooks(s.t, { deposits: 0.5 });
    s.facilitator.mode = "well";
    await s.t.clock.advance(60_000);
    await s.t.relay.tick();
    await s.t.relay.idle();
    expect(await s.t.getBalance(s.boss)).toBe(2.5);
    expect(settledCount()).toBe(1);
    expect(await s.submit()).toMatchObject({ status: 201 });
    await s.t.clock.advance(60_000);
    await s.t.relay.tick();
    await s.t.relay.idle();
    await expectConsistentBooks(s.t, { deposits: 2.5 });
  });

  test("MN23: a payment that began while the clock was three days ahead is finished like any other", async () => {
    await s.close();
    const folder = mkdtempSync(join(tmpdir(), "relay-x402-"));
    const path = join(folder, "relay.db");
    s = await openX402Fixture({ AGENT_DB_PATH: path });
    const headers = await pay();
    s.facilitator.mode = "silent after settling";
    expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
    await editStored(path, `UPDATE x402_payments SET created_at = created_at + ${3 * 86_400_000}`);
    s.facilitator.mode = "well";
    await s.t.clock.advance(30_000);
    await s.t.relay.tick();
    await s.t.relay.idle();
    expect(await s.t.getBalance(s.boss)).toBe(2.5);
    expect(settledCount()).toBe(1);
    rmSync(folder, { recursive: true });
  });

  test("the relay leaves an unanswered payment to the operator if the facilitator refuses it later", async () => {
    const headers = await pay();
    s.facilitator.mode = "silent after settling";
    await s.submit({ headers });
    s.facilitator.mode = "refusing";
    await s.t.clock.advance(60_000);
    await s.t.relay.tick();
    await s.t.relay.idle();
    expect(s.t.listLogged("x402.payment.undecided")).toMatchObject([{ wallet: s.wallet.address }]);
    expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
    await expectConsistentBooks(s.t, { deposits: 0.5 });
  });
});

describe("Payments that the operator closes while the facilitator is asked", () => {
  /** Leaves payments of 2 USD without an answer for an hour, and begins to query the first of them. */
  const leaveWithoutAnswer = async (count: number) => {
    const validBefore = String(Math.floor(s.t.clock.now() / 1_000) + 86_400);
    s.facilitator.mode = "silent";
    for (let sent = 0; sent < count; sent += 1) {
      const headers = await pay({ validBefore });
      expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
    }
    await s.t.clock.advance(3_600_000);
    const { body } = await s.t.asOperator("GET", "/api/v1/admin/reconciliation");
    const checks = body["checks"] as { code: string; ids: string[] }[];
    s.facilitator.mode = "waiting";
    await s.t.relay.tick();
    await expect.poll(() => s.facilitator.countWaiting()).toBe(1);
    return checks.find((check) => check.code === "payment_undecided")?.ids ?? [];
  };
  const closeAsFailed = async (id: string) => {
    const body = { outcome: "failed", reason: "not on the chain" };
    const path = `/api/v1/admin/payments/${id}/resolve`;
    expect(await s.t.asOperator("POST", path, body)).toMatchObject({ status: 200 });
  };
  const finish = async () => {
    s.facilitator.release();
    await s.t.relay.idle();
  };

  test("A15: a payment that settles after the operator closed it as failed is credited", async () => {
    const [id = ""] = await leaveWithoutAnswer(1);
    await closeAsFailed(id);
    await finish();
    expect(settledCount()).toBe(1);
    expect(await s.t.getBalance(s.boss)).toBe(2.5);
    expect(s.t.listLogged("x402.payment.credited")).toMatchObject([{ correlationId: id }]);
    await expectConsistentBooks(s.t, { deposits: 2.5 });
  });

  test("A15: a payment that settles after the operator credited it is credited once", async () => {
    const [id = ""] = await leaveWithoutAnswer(1);
    const body = { outcome: "settled", reason: "on the chain" };
    await s.t.asOperator("POST", `/api/v1/admin/payments/${id}/resolve`, body);
    await finish();
    expect(await s.t.getBalance(s.boss)).toBe(2.5);
    await expectConsistentBooks(s.t, { deposits: 2.5 });
  });

  test("A15: the facilitator is not queried for a payment that the operator closed before its turn", async () => {
    for (const id of await leaveWithoutAnswer(2)) await closeAsFailed(id);
    await finish();
    expect(settledCount()).toBe(1);
    expect(await s.t.getBalance(s.boss)).toBe(2.5);
    await expectConsistentBooks(s.t, { deposits: 2.5 });
  });
});

describe("payments sent to the chain", () => {
  test.each(["pending after settling", "timed out after settling"] as const)(
    "a payment that was sent to the chain is undecided if the facilitator is %s, whatever it answers next",
    async (mode) => {
      const headers = await pay();
      s.facilitator.mode = mode;
      expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
      expect(settledCount()).toBe(1);
      await s.t.clock.advance(60_000);
      await s.t.relay.tick();
      await s.t.relay.idle();
      // The refusal of its nonce does not mean that it was not settled.
      expect(s.t.listLogged("x402.payment.undecided")).toHaveLength(1);
      expect(await s.submit({ headers })).toMatchObject(code(503, "payment.undecided"));
      await expectConsistentBooks(s.t, { deposits: 0.5 });
    },
  );

  test("a payment that was sent to the chain is refused if the chain rejected it", async () => {
    const headers = await pay();
    s.facilitator.mode = "rejected by the chain";
    expect(await s.submit({ headers })).toMatchObject(code(402, "payment.not_settled"));
  });
});

describe("unreachable facilitators", () => {
  test("an unreachable facilitator is logged at the start, delays nothing and is connected once it is reachable", async () => {
    const { port } = new URL(s.facilitator.url);
    await s.facilitator.close();
    const t = await startTestRelay({ ...x402Env(s.facilitator.url) });
    const worker = await t.createWorker(2);
    const boss = await t.createAgent();
    const submit = () => t.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" });
    await t.relay.tick();
    while (t.listLogged("x402.facilitator.init_failed").length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const plain = await submit();
    expect(plain).toMatchObject(code(402, "budget.insufficient"));
    expect(plain.headers.has("payment-required")).toBe(false);
    await t.deposit(boss, 10);
    expect(await submit()).toMatchObject({ status: 201 });

    const facilitator = await startLocalFacilitator(t.clock.now, Number(port));
    await t.as(boss, "POST", `/api/v1/agents/${boss.agentId}/withdrawals`, {
      amount: 7,
      destination: "out",
    });
    await t.clock.advance(30_000);
    await t.relay.tick();
    expect((await waitForPaymentRequest({ submit })).has("payment-required")).toBe(true);
    await t.close();
    await facilitator.close();
  });
});
