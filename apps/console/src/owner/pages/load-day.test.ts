import { describe, expect, test } from "vitest";
import type { RelayCaller } from "../../shared/relay/call-relay.ts";
import { UNREAD } from "../views/describe-failure.ts";
import { getDayStart } from "../views/summarize-day.ts";
import { createDayReader } from "./load-day.ts";

const NOW = new Date(2026, 8, 21, 12).getTime();
const FROM = getDayStart(NOW);
const PAGE = 200;

const task = (task_id: string, status: string, submitted_at = FROM) => ({
  agent_id: "worker",
  task_id,
  status,
  submitted_at,
});
const movement = (type: string, amount: number, created_at = FROM) => ({
  type,
  amount,
  created_at,
});

interface Lists {
  readonly moved?: readonly object[];
  readonly worked?: readonly object[];
  readonly ordered?: readonly object[];
}

/** Answers with pages of these lists as a relay does, refuses one of them, and counts the calls. */
function newRelay(lists: Lists, refused?: keyof Lists) {
  const asked: string[] = [];
  const call = async (
    name: string,
    { query, params }: { query?: Record<string, string>; params: Record<string, string> },
  ) => {
    if (name === "getTask") {
      asked.push(`reason of ${params["taskId"]}`);
      return { ok: true, body: { receipt: { result: `why ${params["taskId"]}` } } };
    }
    const isOrdered = query?.["submitted_by"] === "me";
    const list = name === "listTransactions" ? "moved" : isOrdered ? "ordered" : "worked";
    const start = Number(query?.["cursor"] ?? 0);
    asked.push(`${list} ${start}`);
    if (list === refused) return { ok: false, code: "rate.exceeded", status: 429 };
    const rows = lists[list] ?? [];
    const next_cursor = start + PAGE < rows.length ? String(start + PAGE) : null;
    const page = rows.slice(start, start + PAGE);
    return { ok: true, body: { transactions: page, tasks: page, next_cursor } };
  };
  return { relay: { call } as unknown as RelayCaller, asked };
}

async function load(lists: Lists) {
  const { relay, asked } = newRelay(lists);
  const answer = await createDayReader(relay, "me")(NOW);
  if (!answer.ok) throw new Error(answer.code);
  return { ...answer.body, asked };
}

describe("the owner's day", () => {
  test("the sums of the day are of the work and of the orders separately", async () => {
    const { worked, ordered, isCut } = await load({
      moved: [movement("settlement_credit", 2), movement("settlement_debit", -0.5)],
      worked: [task("a", "completed"), task("b", "failed")],
      ordered: [task("c", "completed"), task("d", "completed")],
    });
    expect(worked).toMatchObject({ earned: 2, spent: 0.5, done: 1, failed: 1 });
    expect(ordered).toMatchObject({ done: 2, failed: 0 });
    expect(isCut).toBe(false);
  });

  test("failed tasks of the day and open tasks of any day are listed once each, with their reasons", async () => {
    const own = task("own", "failed");
    const { failed, open } = await load({
      worked: [own, task("waits", "claimed", FROM - 1), task("before", "failed", FROM - 1)],
      ordered: [own, task("late", "expired"), task("done", "completed"), task("new", "pending")],
    });
    expect(failed.map(({ task: { task_id }, reason }) => [task_id, reason.by])).toEqual([
      ["own", "executor"],
      ["late", "relay"],
    ]);
    expect(open.map(({ task_id }) => task_id)).toEqual(["waits", "new"]);
  });

  test("the reasons of at most eight failed tasks are read, and none of an expired one", async () => {
    const worked = Array.from({ length: 9 }, (_, index) => task(`failed ${index}`, "failed"));
    const { failed, asked } = await load({ worked: [task("late", "expired"), ...worked] });
    expect(failed).toHaveLength(10);
    expect(asked.filter((each) => each.startsWith("reason"))).toEqual(
      worked.slice(0, 7).map(({ task_id }) => `reason of ${task_id}`),
    );
  });

  test("the reason of a failed task is read only once", async () => {
    const { relay, asked } = newRelay({ worked: [task("own", "failed")] });
    const readDay = createDayReader(relay, "me");
    const days = [await readDay(NOW), await readDay(NOW)];
    expect(asked.filter((each) => each.startsWith("reason"))).toEqual(["reason of own"]);
    for (const day of days) {
      expect(day).toMatchObject({ body: { failed: [{ reason: { sentence: "why own" } }] } });
    }
  });

  test("a reason that could not be read is not shown as one that the executor did not give", async () => {
    const { relay } = newRelay({ worked: [task("own", "failed")] });
    const refusing = {
      ...relay,
      call: async (name: string, request: never) =>
        name === "getTask"
          ? { ok: false, code: "rate.exceeded", status: 429 }
          : relay.call(name as "listTasks", request),
    } as RelayCaller;
    expect(await createDayReader(refusing, "me")(NOW)).toMatchObject({
      body: { failed: [{ reason: UNREAD }] },
    });
  });

  test("a list is read until an entry is older than the day", async () => {
    const moved = Array.from({ length: 3 * PAGE }, (_, index) =>
      movement("settlement_credit", 1, index < PAGE + 50 ? FROM : FROM - 1),
    );
    const { worked, asked, isCut } = await load({ moved });
    expect(asked).toEqual(["moved 0", "moved 200", "worked 0", "ordered 0"]);
    expect(worked.earned).toBe(PAGE + 50);
    expect(isCut).toBe(false);
  });

  const full = Array.from({ length: 5 * PAGE }, (_, index) => ({
    ...task(String(index), "completed"),
    ...movement("settlement_credit", 1),
  }));

  test.each(["moved", "worked", "ordered"])(
    "a day with more than five pages of %s entries is shown as cut",
    async (list) => {
      expect((await load({ [list]: full })).isCut).toBe(false);
      expect((await load({ [list]: [...full, full[0]!] })).isCut).toBe(true);
    },
  );

  test.each(["moved", "worked", "ordered"] as const)(
    "no day is shown when the relay refuses the list of %s entries",
    async (list) => {
      const { relay } = newRelay({}, list);
      expect(await createDayReader(relay, "me")(NOW)).toMatchObject({
        ok: false,
        code: "rate.exceeded",
      });
    },
  );
});
