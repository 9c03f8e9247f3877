import type { Answer, Operations, OperatorTask, QueryOf } from "@agent/wire";
import { createPageAnswer, textDescending } from "../http/paging/page.ts";
import type { Services } from "../services.ts";
import { parseSearchWords } from "../storage/queries/text-rank.ts";
import type { Reader } from "../storage/storage.ts";
import {
  listExpiredRows,
  listTaskRows,
  type TaskPageQuery,
  type TaskSource,
} from "./all-tasks-store.ts";
import { toExpiredOperatorTask, toOperatorTask } from "./to-operator-task.ts";

type ListAllTasks = Operations["listAllTasks"];

/** A task of one of the sources; it is shown once the pages of all of them are one page. */
interface FoundTask {
  readonly task_id: string;
  readonly show: () => Promise<OperatorTask>;
}

/** Lists the tasks of all agents, newest first, those that expired included. */
export function listAllTasks(
  { storage: { read } }: Pick<Services, "storage">,
  { state, agent = "", submitter = "", from, to, failed, q, ...query }: QueryOf<ListAllTasks>,
): Promise<Answer<ListAllTasks>> {
  const filter = {
    state: state ?? "",
    agent,
    submitter,
    from: from ?? 0,
    to: to ?? Number.MAX_SAFE_INTEGER,
    words: parseSearchWords(q ?? ""),
  };
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      findTasks(read, { ...filter, before, limit }, { isFailed: failed !== undefined }),
    keyOf: ({ task_id }) => task_id,
    show: async (found) => ({ tasks: await Promise.all(found.map(({ show }) => show())) }),
  });
}

async function findTasks(
  read: Reader,
  query: TaskPageQuery,
  { isFailed }: { readonly isFailed: boolean },
): Promise<FoundTask[]> {
  const { state, limit } = query;
  const stored = await Promise.all(
    listSources(state, isFailed).map((source) => listTaskRows(read, source, query)),
  );
  const expired = state === "" || state === "expired" ? await listExpiredRows(read, query) : [];
  const found: FoundTask[] = [
    ...stored.flat().map((row) => ({
      task_id: row.task_id,
      show: () => toOperatorTask(read, row),
    })),
    ...expired.map((row) => ({
      task_id: row.task_id,
      show: () => toExpiredOperatorTask(read, row),
    })),
  ];
  return found.sort((a, b) => (a.task_id < b.task_id ? 1 : -1)).slice(0, limit);
}

/** The few tasks that failed or are open have indexes of their own. */
function listSources(state: string, isFailed: boolean): readonly TaskSource[] {
  if (state === "expired") return [];
  if (isFailed) return ["failed", "no_show"];
  if (state === "pending" || state === "claimed") return ["open"];
  return state === "failed" || state === "denied" ? ["failed"] : ["all"];
}
