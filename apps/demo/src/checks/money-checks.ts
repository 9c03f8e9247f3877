import type { Operations, Result } from "@agent/wire";
import type { Balance } from "../figures/balances.ts";
import { allHold, type DemoCheck } from "./demo-check.ts";
import type { PaidDelegation, PaidTask } from "../participants/delegate-report.ts";
import { toMicro, formatPercent } from "../figures/money.ts";

export interface MoneyEvidence {
  readonly delegation: Pick<PaidDelegation, "outer" | "inner">;
  readonly before: readonly Balance[];
  readonly after: readonly Balance[];
  readonly reconciliation: Pick<Result<Operations["reconcile"]>, "consistent">;
  /** The share of a price that the relay takes as its fee. */
  readonly feeRate: number;
}

/** Checks the routing, the holds, the settlements and the balances. */
export function checkMoney(evidence: MoneyEvidence): DemoCheck[] {
  const { delegation, reconciliation, feeRate } = evidence;
  const jobs = [delegation.outer, delegation.inner];
  return [
    { claim: "Scored routing chose both workers", passed: allHold(jobs.map(wasRouted)) },
    { claim: "Each hold was 120 % of the price", passed: allHold(jobs.map(wasHeld)) },
    {
      claim: `Each settlement paid the price: ${formatPercent(feeRate)} to the relay, the rest to the worker`,
      passed: allHold(jobs.map((job) => wasSettled(job, feeRate))),
    },
    {
      claim: "The balances changed by exactly these amounts, and nothing is held",
      passed: haveBalancesMoved(evidence),
    },
    { claim: "The relay's books are consistent", passed: reconciliation.consistent },
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

/** Returns whether every balance changed exactly as the two settlements require. */
function haveBalancesMoved({ delegation, before, after }: MoneyEvidence): boolean {
  const moved = new Map<string, number>();
  const move = (name: string, amount: number) =>
    moved.set(name, (moved.get(name) ?? 0) + toMicro(amount));
  for (const { payer, worker, settlement } of [delegation.outer, delegation.inner]) {
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
