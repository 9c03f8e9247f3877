import type { Operations, Result } from "@agent/wire";
import type { Balance } from "../figures/balances.ts";
import { allHold, type DemoCheck } from "./demo-check.ts";
import type { PaidDelegation, PaidTask } from "../participants/delegate-report.ts";
import { toMicro, formatPercent } from "../figures/money.ts";

export interface MoneyEvidence {
  readonly hired: Pick<PaidDelegation, "outer" | "inner">;
  readonly before: readonly Balance[];
  readonly after: readonly Balance[];
  readonly reconciliation: Pick<Result<Operations["reconcile"]>, "consistent">;
  /** The share of a price that the relay keeps. */
  readonly feeRate: number;
}

/** What has to be true of the money. */
export function checkMoney(books: MoneyEvidence): DemoCheck[] {
  const { hired, reconciliation, feeRate } = books;
  const jobs = [hired.outer, hired.inner];
  return [
    { claim: "Scored routing chose both workers", passed: allHold(jobs.map(wasRouted)) },
    { claim: "Each hold was 120 % of the price", passed: allHold(jobs.map(wasHeld)) },
    {
      claim: `Each settlement paid the price: ${formatPercent(feeRate)} to the relay, the rest to the worker`,
      passed: allHold(jobs.map((job) => wasSettled(job, feeRate))),
    },
    {
      claim: "The balances moved by just these amounts, nothing is held",
      passed: haveBalancesMoved(books),
    },
    { claim: "The relay's books balance", passed: reconciliation.consistent },
  ];
}

function wasRouted({ task, worker }: PaidTask): boolean {
  return task.routing_choice?.selected_agent === worker.agentId;
}

function wasHeld({ task, worker }: PaidTask): boolean {
  const price = toMicro(worker.price);
  return (
    toMicro(task.estimated_cost) === price &&
    toMicro(task.amount_locked) === Math.round(price * 1.2)
  );
}

function wasSettled({ payer, worker, settlement }: PaidTask, feeRate: number): boolean {
  const price = toMicro(worker.price);
  const fee = Math.round(price * feeRate);
  return (
    settlement.status === "completed" &&
    settlement.payer_id === payer.agentId &&
    settlement.payee_id === worker.agentId &&
    toMicro(settlement.amount_settled) === price &&
    toMicro(settlement.fee) === fee &&
    toMicro(settlement.net) === price - fee
  );
}

/** Every account has to stand where the two settlements leave it. */
function haveBalancesMoved({ hired, before, after }: MoneyEvidence): boolean {
  const moved = new Map<string, number>();
  const move = (name: string, amount: number) =>
    moved.set(name, (moved.get(name) ?? 0) + toMicro(amount));
  for (const { payer, worker, settlement } of [hired.outer, hired.inner]) {
    move(payer.name, -settlement.amount_settled);
    move(worker.name, settlement.net);
    move("relay fees", settlement.fee);
  }
  return allHold(
    before.map(({ name, balance }) => {
      const now = after.find((account) => account.name === name);
      if (now === undefined || now.held !== 0) return false;
      return toMicro(now.balance) === toMicro(balance) + (moved.get(name) ?? 0);
    }),
  );
}
