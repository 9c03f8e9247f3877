import { toDollars } from "@agent/budget";
import { refuse, type Answer, type Hold, type Operations, type TaskEvent } from "@agent/wire";
import { listTaskPostings } from "../budget/accounts/list-task-postings.ts";
import { getTaskMoney } from "../budget/accounts/task-money.ts";
import { isClaimedByPeer } from "../federation/peer-ref.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findWatchedTask } from "../tasks/events/event-store.ts";
import { listNextEvents } from "../tasks/reading/task-events.ts";
import { listNoShows } from "../tasks/assignment/no-show-store.ts";
import { parseArchivedReceipt } from "../tasks/receipts/parse-archived-receipt.ts";
import { findReceipt } from "../tasks/receipts/receipt-store.ts";
import { findTask } from "../tasks/store.ts";
import { findParent, listChildren } from "../tasks/submission/parent-store.ts";
import { isClaimedByEndpoint, parseAttempts } from "../tasks/task.ts";
import { findExpiredRow, findTaskRow, type ListedTaskRow } from "./all-tasks-store.ts";
import { findHold } from "./holds-store.ts";
import { toHold } from "./list-holds.ts";
import { parseExpiredTask, toExpiredOperatorTask, toOperatorTask } from "./to-operator-task.ts";

type Report = Extract<Answer<Operations["getTaskReport"]>, { status: 200 }>["body"];

const MAX_CHILDREN = 200;
const MAX_EVENT_PAGES = 40;

/** Returns everything that is known of a task but its texts, by its id alone. */
export async function getTaskReport(
  services: Pick<Services, "storage" | "identity">,
  taskId: string,
): Promise<Answer<Operations["getTaskReport"]>> {
  const { read } = services.storage;
  const row = await findTaskRow(read, taskId);
  const report =
    row === undefined
      ? await reportExpired(read, taskId)
      : await reportStored(services, row, await findHold(read, taskId));
  if (report === undefined) return refuse("task.not_found");
  const parent = await findParent(read, taskId);
  const children = await listChildren(read, { parent_id: taskId, limit: MAX_CHILDREN });
  return { status: 200, body: { ...report, parent_task_id: parent ?? null, children } };
}

type OwnReport = Omit<Report, "parent_task_id" | "children">;

async function reportStored(
  services: Pick<Services, "storage" | "identity">,
  row: ListedTaskRow,
  hold: Awaited<ReturnType<typeof findHold>>,
): Promise<OwnReport> {
  const { read } = services.storage;
  const { task_id } = row;
  const payerId = row.submitted_by ?? `relay:${row.origin_peer ?? ""}`;
  const events = await listAllEvents(read, task_id);
  const noShows = new Set((await listNoShows(read, task_id)).map(({ agent_id }) => agent_id));
  const attempts = parseAttempts(row);
  const shownHold: Hold | null = hold === undefined ? null : toHold(hold);
  const { settlements } = await getTaskMoney(services, task_id);
  return {
    task: await toOperatorTask(read, row),
    executors: listExecutors(attempts, row.attempt, events, noShows, outcomeOf(row.status)),
    deliveries: listDeliveries(attempts, events, row),
    hold: shownHold,
    postings: await listTaskPostings(services, { task_id, payerId }),
    settlement_ids: settlements.map(({ settlement_id }) => settlement_id),
    // Notes are texts of the executor.
    events: events.map(withoutNote),
  };
}

function withoutNote(event: TaskEvent): Omit<TaskEvent, "note"> {
  const { note: _, ...facts } = event;
  return facts;
}

async function reportExpired(read: Reader, taskId: string): Promise<OwnReport | undefined> {
  const row = await findExpiredRow(read, taskId);
  if (row === undefined) return undefined;
  const kept = parseExpiredTask(row);
  const noShows = new Set((await listNoShows(read, taskId)).map(({ agent_id }) => agent_id));
  const attempts = JSON.parse(kept.attempts) as Attempt[];
  return {
    task: await toExpiredOperatorTask(read, row),
    executors: listExecutors(attempts, kept.attempt, [], noShows, "expired"),
    deliveries: [],
    hold: null,
    postings: [],
    settlement_ids: [],
    events: [],
  };
}

type Outcome = Report["executors"][number]["outcome"];

/** The way the present assignment ends, by the state of its task. */
function outcomeOf(status: ListedTaskRow["status"]): Outcome {
  if (status === "pending") return "waiting";
  return status === "claimed" ? "working" : status;
}

/** Lists the agents that the task was assigned to, with the way each assignment ended. */
function listExecutors(
  attempts: readonly Attempt[],
  current: number,
  events: readonly TaskEvent[],
  noShows: ReadonlySet<string>,
  last: Outcome,
): Report["executors"] {
  const reassigned = new Set(events.map(({ assigned_to }) => assigned_to));
  return attempts.flatMap((attempt, index) => {
    const { agent_id, charge, via } = attempt;
    if (index > current && !reassigned.has(agent_id)) return [];
    const isNoShow = noShows.has(via?.relay_id ?? agent_id);
    const isOver = index !== current || last === "expired";
    const outcome = isOver && isNoShow ? "no_show" : index === current ? last : "passed_on";
    return [{ agent_id, relay_id: via?.relay_id ?? null, price: toDollars(charge), outcome }];
  });
}

/** Lists the executors that took the task, by the claims among its events. */
function listDeliveries(
  attempts: readonly Attempt[],
  events: readonly TaskEvent[],
  row: ListedTaskRow,
): Report["deliveries"] {
  const taken = new Map<string, { attempts: number; last_at: number }>();
  let executor = attempts[0]?.agent_id ?? row.agent_id;
  for (const { type, at, assigned_to } of events) {
    if (type === "reassigned") executor = assigned_to ?? row.agent_id;
    if (type !== "claimed") continue;
    taken.set(executor, { attempts: (taken.get(executor)?.attempts ?? 0) + 1, last_at: at });
  }
  const holder = row.assigned_to ?? row.agent_id;
  // A device may deliver a result without a claim.
  if (row.receipt_hash !== null && !taken.has(holder)) {
    taken.set(holder, { attempts: 1, last_at: row.finished_at ?? row.submitted_at });
  }
  return [...taken].map(([agent_id, claims]) => {
    const isRemote = attempts.some((each) => each.agent_id === agent_id && each.via !== undefined);
    const isKnown = agent_id === holder && (row.claimed_by !== null || row.receipt_hash !== null);
    const known = isKnown ? channelOf(row) : null;
    return { agent_id, channel: isRemote ? "peer" : known, ...claims };
  });
}

function channelOf(row: ListedTaskRow): "peer" | "mcp" | "socket" {
  if (isClaimedByPeer(row)) return "peer";
  return isClaimedByEndpoint(row) ? "mcp" : "socket";
}

async function listAllEvents(read: Reader, taskId: string): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  const task = await findWatchedTask(read, taskId);
  if (task === undefined) return events;
  for (let page = 0; page < MAX_EVENT_PAGES; page += 1) {
    const next = await listNextEvents(read, task, events.at(-1)?.event_id ?? 0);
    if (next.length === 0) break;
    events.push(...next);
  }
  return events;
}

/** Shows the texts of a task; the call is in the operator's audit. */
export async function getTaskTexts(
  { storage: { read } }: Pick<Services, "storage">,
  taskId: string,
): Promise<Answer<Operations["getTaskTexts"]>> {
  const task = await findTask(read, taskId);
  if (task === undefined) return refuse("task.not_found");
  const archived = await findReceipt(read, taskId);
  return {
    status: 200,
    body: {
      task_id: taskId,
      prompt: task.prompt,
      result: archived === undefined ? null : parseArchivedReceipt(archived.body).result,
      erased_at: task.erased_at,
    },
  };
}
