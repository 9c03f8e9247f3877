import { sumMoney } from "../../shared/format/show-amount.ts";

/** A posting of the agent's account, as far as a day's sums need it. */
export interface DayTransaction {
  readonly type: string;
  readonly amount: number;
  readonly created_at: number;
}

/** A task of the agent, as far as a day's counts need it. */
export interface DayTask {
  readonly status: string;
  readonly submitted_at: number;
}

export interface DaySummary {
  readonly earned: number;
  readonly spent: number;
  /** The sum earned by the end of each hour of the day so far. */
  readonly earnedByHour: readonly number[];
  readonly done: number;
  readonly failed: number;
  readonly open: number;
}

const HOUR_MS = 3_600_000;
const OPEN = ["pending", "claimed"];
/** A cancelled task is neither done nor failed: its submitter took it back. */
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
    open: tasks.filter(isOpenTask).length,
  };
}
