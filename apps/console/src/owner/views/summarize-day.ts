import { sumMoney } from "../../shared/format/show-amount.ts";

/** The members of a posting in the agent's account that a day's sums need. */
export interface DayTransaction {
  readonly type: string;
  readonly amount: number;
  readonly created_at: number;
}

/** The members of an agent's task that the counts of a day need. */
export interface DayTask {
  readonly status: string;
  readonly submitted_at: number;
}

export interface DaySummary {
  readonly earned: number;
  readonly spent: number;
  /** The cumulative amount earned at the end of each hour of the day so far. */
  readonly earnedByHour: readonly number[];
  readonly done: number;
  readonly failed: number;
}

const HOUR_MS = 3_600_000;
const OPEN = ["pending", "claimed"];
/** A cancelled task counts neither as done nor as failed, because its submitter withdrew it. */
const FAILED = ["failed", "denied", "expired"];

/** Returns the beginning of the reader's day, in ms. */
export function getDayStart(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

export const isOpenTask = ({ status }: Pick<DayTask, "status">): boolean => OPEN.includes(status);
export const isFailedTask = ({ status }: Pick<DayTask, "status">): boolean =>
  FAILED.includes(status);

/** Sums the settlements since `from` and counts the tasks submitted since then. */
export function summarizeDay(
  transactions: readonly DayTransaction[],
  tasks: readonly DayTask[],
  { from, now }: { readonly from: number; readonly now: number },
): DaySummary {
  const since = transactions.filter(({ created_at }) => created_at >= from);
  const amountsOf = (type: string, until = Number.POSITIVE_INFINITY) =>
    since
      .filter((each) => each.type === type && each.created_at < until)
      .map((each) => each.amount);
  const hours = Math.max(1, Math.ceil((now - from) / HOUR_MS));
  const earnedByHour = Array.from({ length: hours }, (_, hour) =>
    sumMoney(amountsOf("settlement_credit", from + (hour + 1) * HOUR_MS)),
  );
  const today = tasks.filter(({ submitted_at }) => submitted_at >= from);
  return {
    earned: sumMoney(amountsOf("settlement_credit")),
    spent: -sumMoney(amountsOf("settlement_debit")) || 0,
    earnedByHour,
    done: today.filter(({ status }) => status === "completed").length,
    failed: today.filter(isFailedTask).length,
  };
}
