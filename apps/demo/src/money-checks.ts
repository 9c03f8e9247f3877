import type { Operations, Result } from "@agent/wire";
import type { Balance } from "./balances.ts";
import { all, type Check } from "./check.ts";
import type { Hired, Job } from "./hire.ts";
import { micro, percent } from "./money.ts";

export interface Books {
  readonly hired: Pick<Hired, "outer" | "inner">;
  readonly before: readonly Balance[];
  readonly after: readonly Balance[];
  readonly reconciliation: Pick<Result<Operations["reconcile"]>, "consistent">;
  /** The share of a price that the relay keeps. */
  readonly feeRate: number;
}

/** What has to be true of the money. */
export function checkMoney(books: Books): Check[] {
  const { hired, reconciliation, feeRate } = books;
  const jobs = [hired.outer, hired.inner];
  return [
    { claim: "Scored routing chose both workers", held: all(jobs.map(isRouted)) },
    { claim: "Each hold was 120 % of the price", held: all(jobs.map(isHeld)) },
    {
      claim: `Each settlement paid the price: ${percent(feeRate)} to the relay, the rest to the worker`,
      held: all(jobs.map((job) => isSettled(job, feeRate))),
    },
    { claim: "The balances moved by just these amounts, nothing is held", held: isPaid(books) },
    { claim: "The relay's books balance", held: reconciliation.consistent },
  ];
}

function isRouted({ task, worker }: Job): boolean {
  return task.routing_choice?.selected_agent === worker.agentId;
}

function isHeld({ task, worker }: Job): boolean {
  const price = micro(worker.price);
  return (
    micro(task.estimated_cost) === price && micro(task.amount_locked) === Math.round(price * 1.2)
  );
}

function isSettled({ payer, worker, settlement }: Job, feeRate: number): boolean {
  const price = micro(worker.price);
  const fee = Math.round(price * feeRate);
  return (
    settlement.status === "completed" &&
    settlement.payer_id === payer.agentId &&
    settlement.payee_id === worker.agentId &&
    micro(settlement.amount_settled) === price &&
    micro(settlement.fee) === fee &&
    micro(settlement.net) === price - fee
  );
}

/** Every account has to stand where the two settlements leave it. */
function isPaid({ hired, before, after }: Books): boolean {
  const moved = new Map<string, number>();
  const move = (name: string, amount: number) =>
    moved.set(name, (moved.get(name) ?? 0) + micro(amount));
  for (const { payer, worker, settlement } of [hired.outer, hired.inner]) {
    move(payer.name, -settlement.amount_settled);
    move(worker.name, settlement.net);
    move("relay fees", settlement.fee);
  }
  return all(
    before.map(({ name, balance }) => {
      const now = after.find((account) => account.name === name);
      if (now === undefined || now.held !== 0) return false;
      return micro(now.balance) === micro(balance) + (moved.get(name) ?? 0);
    }),
  );
}
