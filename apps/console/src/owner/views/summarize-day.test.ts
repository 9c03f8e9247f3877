import { expect, test } from "vitest";
import { getDayStart, isOpenTask, summarizeDay } from "./summarize-day.ts";

const FROM = new Date(2026, 10, 23).getTime();
const NOW = FROM + 2.5 * 3_600_000;
const posting = (type: string, amount: number, hour: number) => ({
  type,
  amount,
  created_at: FROM + hour * 3_600_000,
});
const task = (status: string, hour = 1) => ({ status, submitted_at: FROM + hour * 3_600_000 });

test("a day begins at the reader's midnight", () => {
  expect(getDayStart(NOW)).toBe(FROM);
  expect(getDayStart(FROM)).toBe(FROM);
});

test("a day sums what was paid, not what was held or deposited, and not yesterday", () => {
  const transactions = [
    posting("settlement_credit", 0.1, 0),
    posting("settlement_credit", 0.2, 2),
    posting("settlement_credit", 5, -1),
    posting("allocation_hold", -3, 1),
    posting("allocation_release", 3, 1),
    posting("settlement_debit", -1.5, 1),
    posting("deposit", 10, 1),
  ];
  expect(summarizeDay(transactions, [], { from: FROM, now: NOW })).toMatchObject({
    earned: 0.3,
    spent: 1.5,
    earnedByHour: [0.1, 0.1, 0.3],
  });
});

test("a day counts its tasks by how they ended, and the open ones of all days are found", () => {
  const tasks = ["completed", "failed", "denied", "expired", "cancelled", "claimed"].map((status) =>
    task(status),
  );
  const before = [task("completed", -1), task("failed", -1), task("pending", -1)];
  const all = [...tasks, ...before];
  const summary = summarizeDay([], all, { from: FROM, now: NOW });
  expect(summary).toMatchObject({ done: 1, failed: 3, earned: 0, spent: 0 });
  expect(all.filter(isOpenTask)).toHaveLength(2);
});
