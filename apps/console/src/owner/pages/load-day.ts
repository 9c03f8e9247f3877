import type { ListedTask, Transaction } from "@agent/wire";
import type { PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";
import { describeFailure, UNREAD, type FailureReason } from "../views/describe-failure.ts";
import {
  getDayStart,
  isFailedTask,
  isOpenTask,
  summarizeDay,
  type DaySummary,
} from "../views/summarize-day.ts";

export type ShownTask = Omit<ListedTask, "status"> & { readonly status: string };
type ShownTransaction = Omit<Transaction, "type"> & { readonly type: string };

/** A task that failed, with its reason. */
export interface FailedTask {
  readonly task: ShownTask;
  readonly reason: FailureReason;
}

export interface LoadedDay {
  /** The tasks that this agent worked on. */
  readonly worked: DaySummary;
  /** The tasks that it delegated to others. */
  readonly ordered: DaySummary;
  readonly failed: readonly FailedTask[];
  readonly open: readonly ShownTask[];
  /** Whether not all movements or tasks of the day were read, so that its sums are too low. */
  readonly isCut: boolean;
}

const PAGE_SIZE = 200;
const MAX_PAGES = 5;
/** The maximum number of reasons to read, because each one needs a further call. */
const MAX_REASONS = 8;

/** Returns a function that reads the agent's activity since the reader's midnight. */
export function createDayReader(
  relay: RelayCaller,
  agentId: string,
): (now: number) => Promise<PageAnswer<LoadedDay>> {
  const readReason = createReasonReader(relay);
  return (now) => loadDay(relay, { agentId, now, readReason });
}

interface DayQuestion {
  readonly agentId: string;
  readonly now: number;
  readonly readReason: ReturnType<typeof createReasonReader>;
}

async function loadDay(
  relay: RelayCaller,
  { agentId, now, readReason }: DayQuestion,
): Promise<PageAnswer<LoadedDay>> {
  const from = getDayStart(now);
  const params = { agentId };
  const moved = await readSince<ShownTransaction>(from, async (cursor) => {
    const query = { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
    const answer = await relay.call("listTransactions", { params, query });
    if (!answer.ok) return answer;
    const rows = answer.body.transactions.map((row) => ({ row, at: row.created_at }));
    return { ok: true, body: { rows, next: answer.body.next_cursor } };
  });
  if (!moved.ok) return moved;
  const listTasks = (extra: { readonly submitted_by?: "me" }) =>
    readSince<ShownTask>(from, async (cursor) => {
      const query = { limit: PAGE_SIZE, ...extra, ...(cursor !== undefined && { cursor }) };
      const answer = await relay.call("listTasks", { params, query });
      if (!answer.ok) return answer;
      const rows = answer.body.tasks.map((row) => ({ row, at: row.submitted_at }));
      return { ok: true, body: { rows, next: answer.body.next_cursor } };
    });
  const worked = await listTasks({});
  if (!worked.ok) return worked;
  const ordered = await listTasks({ submitted_by: "me" });
  if (!ordered.ok) return ordered;

  const range = { from, now };
  const both = [...worked.body.rows, ...ordered.body.rows];
  const distinct = [...new Map(both.map((task) => [task.task_id, task])).values()];
  const failed = distinct.filter((task) => isFailedTask(task) && task.submitted_at >= from);
  const body = {
    worked: summarizeDay(moved.body.rows, worked.body.rows, range),
    ordered: summarizeDay(moved.body.rows, ordered.body.rows, range),
    failed: await Promise.all(failed.map((task, index) => readReason(task, index < MAX_REASONS))),
    open: distinct.filter(isOpenTask),
    isCut: moved.body.isCut || worked.body.isCut || ordered.body.isCut,
  };
  return { ok: true, body };
}

/** Reads reasons, each only once, because the receipt of a failed task never changes. */
function createReasonReader(relay: RelayCaller) {
  const known = new Map<string, FailureReason>();
  return async (task: ShownTask, isAsked: boolean): Promise<FailedTask> => {
    const { status, agent_id: agentId, task_id: taskId } = task;
    // The relay stores no text about an expired task.
    if (status === "expired") return { task, reason: describeFailure(status, null) };
    const before = known.get(taskId);
    if (before !== undefined || !isAsked) return { task, reason: before ?? UNREAD };
    const answer = await relay.call("getTask", { params: { agentId, taskId } });
    if (!answer.ok) return { task, reason: UNREAD };
    const reason = describeFailure(status, answer.body.receipt);
    known.set(taskId, reason);
    return { task, reason };
  };
}

interface TimedPage<Row> {
  readonly rows: readonly { readonly row: Row; readonly at: number }[];
  readonly next: string | null;
}

/** Reads a list, newest first, until a row is older than `from`. */
async function readSince<Row>(
  from: number,
  loadPage: (cursor: string | undefined) => Promise<PageAnswer<TimedPage<Row>>>,
): Promise<PageAnswer<{ readonly rows: Row[]; readonly isCut: boolean }>> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await loadPage(cursor);
    if (!answer.ok) return answer;
    rows.push(...answer.body.rows.map(({ row }) => row));
    const { next } = answer.body;
    const oldest = answer.body.rows.at(-1)?.at ?? 0;
    if (next === null || oldest < from) return { ok: true, body: { rows, isCut: false } };
    cursor = next;
  }
  return { ok: true, body: { rows, isCut: true } };
}
