import { toMicro } from "@agent/budget";
import type { HistoryRelay } from "./history-relay.ts";

/** Errors that a relay logs for its operator although nothing is wrong with it. */
const EXPECTED_ERRORS = new Set([
  "account.overdrawn",
  "card.credit_refused",
  "clock.jumped",
  "federation.result.unanswered",
  "federation.settlement.defaulted",
  "federation.settlement.held",
  "x402.payment.credit_refused",
  "x402.payment.undecided",
]);

interface LoggedLine {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
  readonly error?: string;
}

/** Checks the rules that the stored rows alone must obey, which takes a few milliseconds. */
export async function checkRows(relay: HistoryRelay): Promise<void> {
  await checkPaidOnce(relay);
  await checkTasks(relay);
  await checkTokens(relay);
  checkLog(relay);
}

/** Checks all rules, also those of the relay's own books. */
export async function checkAll(relay: HistoryRelay): Promise<void> {
  await checkRows(relay);
  await checkBooks(relay);
  for (const { agentId } of relay.facts.parties) await checkStatement(relay, agentId);
}

async function checkPaidOnce(relay: HistoryRelay): Promise<void> {
  const paidTwice = await relay.list(
    `select account, reference_id from postings
     where account like 'agent:%' and type = 'settlement_credit'
     group by account, reference_id having count(*) > 1`,
  );
  if (paidTwice.length > 0) relay.fail("a task is paid once", paidTwice);
  const creditedTwice = await relay.list(
    `select reference_id from postings
     where account like 'agent:%' and type = 'deposit' and reference_id like 'x402:%'
     group by reference_id having count(*) > 1`,
  );
  if (creditedTwice.length > 0) relay.fail("an x402 payment is credited once", creditedTwice);
}

interface PaidTask {
  readonly task_id: string;
  readonly status: string;
  readonly locked: number;
  readonly charge: number;
  /** The change of the submitter's account by holds, releases and payments. */
  readonly moved: number;
  readonly settled: number | null;
}

async function checkTasks(relay: HistoryRelay): Promise<void> {
  const tasks = await relay.list<PaidTask>(
    `select t.task_id, t.status, t.locked, t.charge, s.amount_settled as settled,
       (select coalesce(sum(amount), 0) from postings as p
         where p.reference_id = t.task_id and p.account = 'agent:' || t.submitted_by
           and type <> 'settlement_credit') as moved
     from tasks as t left join settlements as s on s.task_id = t.task_id
     where t.submitted_by is not null and t.origin_peer is null`,
  );
  for (const task of tasks) {
    const { status, locked, charge, settled } = task;
    const spent = 0 - Number(task.moved);
    const isOpen = status === "pending" || status === "claimed";
    const maxBudget = relay.facts.maxBudgets[task.task_id] ?? Infinity;
    if (charge > Math.min(locked, maxBudget)) relay.fail("a hold covers an accepted price", task);
    if (spent > locked) relay.fail("a task costs no more than its hold", task);
    if (isOpen && spent !== locked) relay.fail("an open task has its hold", task);
    if (!isOpen && status !== "completed" && spent !== 0) {
      relay.fail("a task without a result costs nothing", task);
    }
    if ((settled ?? 0) > charge) relay.fail("a task is settled for its price at most", task);
  }
}

/** Checks that the tasks of a token cost no more than its budget, with their share of arbitration fees. */
async function checkTokens(relay: HistoryRelay): Promise<void> {
  for (const [name, { budget, taskIds }] of Object.entries(relay.facts.tokens)) {
    let used = 0;
    for (const taskId of new Set(taskIds)) {
      const [row] = await relay.list<{ moved: number }>(
        `select coalesce(sum(amount), 0) as moved from postings
         where account like 'agent:%' and type <> 'settlement_credit'
           and (reference_id = ? or (account, reference_id) in
             (select 'agent:' || submitter_id, dispute_id from inspections where task_id = ?))`,
        [taskId, taskId],
      );
      used -= Number(row?.moved ?? 0);
    }
    if (used > budget) relay.fail("a token pays its budget at most", { name, budget, used });
  }
}

function checkLog(relay: HistoryRelay): void {
  for (const line of relay.t.lines.splice(0)) {
    const event = JSON.parse(line) as LoggedLine;
    const isAlarm = event.msg === "federation.position_differs";
    if (isAlarm) relay.alarms.push(line);
    const isExpected =
      isAlarm ||
      EXPECTED_ERRORS.has(event.msg) ||
      event.code === "payment_undecided" ||
      event.error?.startsWith("StorageFrozen") === true;
    if (event.level === "error" && !isExpected) relay.fail("the relay reports no fault", event);
  }
}

interface Books {
  readonly checks: readonly { readonly code: string; readonly ok: boolean }[];
  readonly totals: Readonly<Record<string, number>>;
}

/** Reads the totals of a relay in micro-units. */
export async function getTotals(relay: HistoryRelay): Promise<Record<string, number>> {
  const { totals } = await getBooks(relay);
  return Object.fromEntries(Object.entries(totals).map(([name, sum]) => [name, toMicro(sum)]));
}

async function getBooks(relay: HistoryRelay): Promise<Books> {
  const { body } = await relay.t.asOperator("GET", "/api/v1/admin/reconciliation");
  return body as unknown as Books;
}

async function checkBooks(relay: HistoryRelay): Promise<void> {
  const { checks } = await getBooks(relay);
  // A payment may stay undecided for longer than an hour here.
  const wrong = checks.filter(({ code, ok }) => !ok && code !== "payment_undecided");
  if (wrong.length > 0) relay.fail("the books are consistent", wrong);
  const totals = await getTotals(relay);
  const [outside] = await relay.list<{ x402: number; paid: number }>(
    `select
       (select coalesce(sum(amount), 0) from postings where account like 'agent:%'
         and type = 'deposit' and reference_id like 'x402:%') as x402,
       (select coalesce(sum(amount), 0) from withdrawals where status = 'completed') as paid`,
  );
  const expected = {
    deposits: relay.facts.deposited + Number(outside?.x402) - (totals["card_reversals"] ?? 0),
    withdrawals: Number(outside?.paid) + relay.facts.paidToPeer,
  };
  const { deposits, withdrawals } = totals;
  if (deposits !== expected.deposits || withdrawals !== expected.withdrawals) {
    relay.fail("outside money is that which came and went", { totals, expected });
  }
}

/** Checks that the newest part of an account's statement begins and ends at its balances. */
async function checkStatement(relay: HistoryRelay, agentId: string): Promise<void> {
  const path = `/api/v1/agents/${agentId}/statement?from=${relay.now() - 60_000}`;
  const { status, body } = await relay.t.asOperator("GET", path);
  // An account can have more movements than a statement has rows.
  if (status !== 200) return;
  const { opening_balance, closing_balance, transactions } = body as {
    readonly opening_balance: number;
    readonly closing_balance: number;
    readonly transactions: readonly { readonly amount: number }[];
  };
  const amounts = [opening_balance, ...transactions.map(({ amount }) => amount)];
  const sum = amounts.reduce((all, amount) => all + Math.round(amount * 1e6), 0);
  if (sum !== Math.round(closing_balance * 1e6)) relay.fail("a statement adds up", body);
}
