import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  cardEnv,
  createDisputeEvent,
  payByCard,
  sendEvent,
} from "../../test/payments/card-processor.ts";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { createBuyer, expectConsistentBooks } from "../../test/market.ts";
import { runCommand } from "../../test/processes/operator-command.ts";

const WEEK_MS = 604_800_000;
const ADMIN_PATH = "/api/v1/admin/withdrawals";

let t: ServedRelay;
let debtor: TestAgent;
let withdrawalId: string;

const withdraw = async (agent: TestAgent, amount: number) => {
  const path = `/api/v1/agents/${agent.agentId}/withdrawals`;
  const { body } = await t.as(agent, "POST", path, { amount, destination: "IBAN 1" });
  return String(body["withdrawal_id"]);
};

/** Withdraws the money of a card payment after its release, before the payment is disputed. */
beforeEach(async () => {
  // No server listens here, because no test of this file opens a page of the processor.
  t = await serveTestRelay(cardEnv("http://127.0.0.1:1"));
  debtor = await t.createAgent();
  await payByCard(t, debtor);
  await t.clock.advance(WEEK_MS);
  withdrawalId = await withdraw(debtor, 12);
  await sendEvent(t, createDisputeEvent("pi_1", 1_250));
});
afterEach(() => t.close());

const listPending = async () =>
  (await t.asOperator("GET", `${ADMIN_PATH}?status=pending`)).body["withdrawals"];

test("A16: the operator's list shows what the account of a withdrawal owes", async () => {
  const other = await createBuyer(t, 5);
  await withdraw(other, 5);
  expect(await listPending()).toMatchObject([
    { agent_id: other.agentId, account_owes: 0 },
    { agent_id: debtor.agentId, amount: 12, account_owes: 12 },
  ]);
  const all = await t.asOperator("GET", ADMIN_PATH);
  expect(all.body["withdrawals"]).toEqual(await listPending());
});

test("A16: the operator's command shows what the account of a withdrawal owes", async () => {
  const asked = { url: t.baseUrl, now: t.clock.now };
  const { out } = await runCommand(asked, ["withdrawals"], { state: "pending" });
  expect(out).toMatch(/12\.00 USD\s+IBAN 1\s+pending\s+12\.00 USD/);
});

test("A16: a withdrawal that the operator fails repays what its account owes", async () => {
  await t.asOperator("POST", `${ADMIN_PATH}/${withdrawalId}/fail`, { reason: "a dispute" });
  expect(await t.getBalance(debtor)).toBe(0);
  const { body } = await t.asOperator("GET", ADMIN_PATH);
  expect(body["withdrawals"]).toMatchObject([{ status: "failed", account_owes: 0 }]);
  await expectConsistentBooks(t, { deposits: 0, balances: 0, holds: 0 });
});

test("A16: a withdrawal that was paid out before the dispute can still be completed", async () => {
  const path = `${ADMIN_PATH}/${withdrawalId}/complete`;
  expect(await t.asOperator("POST", path, { payout_reference: "wire 7" })).toMatchObject({
    status: 200,
  });
  expect(await t.getBalance(debtor)).toBe(-12);
  await expectConsistentBooks(t, { withdrawals: 12, balances: -12, holds: 0 });
});
