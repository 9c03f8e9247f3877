import { checkAll, getTotals } from "./check-money.ts";
import type { HistoryRelay } from "./history-relay.ts";
import { unfreezeRelay } from "./relay-steps.ts";

const DAY_MS = 86_400_000;
/** Together longer than any deadline, and the last one longer than any retention. */
const PASSES_DAYS = [0.001, 0.02, 0.2, 1, 8, 8, 8, 8, 31];
/** The largest amount of one withdrawal, in dollars. */
const LARGEST_WITHDRAWAL = 1e9;

/** Lets everything end, and pays out all money. */
export async function endHistory(relay: HistoryRelay): Promise<void> {
  await unfreezeRelay(relay);
  await relay.asOperator("POST", "/api/v1/admin/clock/accept");
  for (const days of PASSES_DAYS) {
    await relay.advance(days * DAY_MS);
    await relay.tick();
  }
  await resolveAll(relay);
  await payOutAll(relay);
}

/** Pays out all money of a relay where everything has ended: no hold is left, and only fees and debts remain. */
export async function payOutAll(relay: HistoryRelay): Promise<void> {
  const left = await relay.list(
    `select account as what, balance as how from accounts
       where account like 'held:%' and balance <> 0
     union all select task_id, locked from tasks where status in ('pending', 'claimed')`,
  );
  if (left.length > 0) relay.fail("every hold ends", left);
  for (const { agentId } of relay.facts.parties) await withdrawAll(relay, agentId);
  await checkAll(relay);
  const totals = await getTotals(relay);
  const remaining = totals["deposits"]! - totals["withdrawals"]!;
  if (remaining !== totals["fees"]! + totals["balances"]! + totals["peers"]!) {
    relay.fail("only fees and debts remain", totals);
  }
}

/** Decides what waits for the operator: payments without an outcome, and withdrawals. */
export async function resolveAll(relay: HistoryRelay): Promise<void> {
  const payments = await relay.list<{ proof_hash: string }>(
    "select proof_hash from x402_payments where state = 'undecided'",
  );
  for (const { proof_hash } of payments) {
    const body = { outcome: "settled", reason: "as the chain says" };
    await relay.asOperator("POST", `/api/v1/admin/payments/${proof_hash}/resolve`, body);
  }
  const withdrawals = await relay.list<{ withdrawal_id: string }>(
    "select withdrawal_id from withdrawals where status = 'pending'",
  );
  for (const { withdrawal_id } of withdrawals) await payWithdrawal(relay, withdrawal_id);
}

function payWithdrawal(relay: HistoryRelay, id: string) {
  const path = `/api/v1/admin/withdrawals/${id}/complete`;
  return relay.asOperator("POST", path, { payout_reference: "wire 1" });
}

async function withdrawAll(relay: HistoryRelay, agentId: string): Promise<void> {
  const path = `/api/v1/agents/${agentId}`;
  for (;;) {
    const { body } = await relay.t.asOperator("GET", `${path}/balance`);
    const amount = Math.min(LARGEST_WITHDRAWAL, Number(body["balance"]));
    if (amount <= 0) return;
    const request = { amount, destination: "IBAN 1" };
    const asked = await relay.asOperator("POST", `${path}/withdrawals`, request);
    if (asked.status !== 201) relay.fail("all money can be withdrawn", { ...asked.body, amount });
    await payWithdrawal(relay, String(asked.body["withdrawal_id"]));
  }
}
