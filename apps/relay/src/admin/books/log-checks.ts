import { listSettledTasks } from "../../log/entries/list-settled-tasks.ts";
import type { BooksCheck } from "./books-check.ts";
import { listSettlementsBefore } from "./task-store.ts";

const SETTLEMENTS_PER_PAGE = 100;

const findUnloggedSettlements: BooksCheck["find"] = async ({ snapshot, since }, report) => {
  const [newest] = await snapshot((read) =>
    listSettlementsBefore(read, { before: Number.MAX_SAFE_INTEGER, limit: 1 }),
  );
  if (newest === undefined) return;
  // The log is read after the newest settlement, so it has the entries of all that are compared.
  const logged = await listSettledTasks(snapshot, since);
  if (logged === undefined) return;
  for (let before = newest.place + 1; ;) {
    const query = { before, limit: SETTLEMENTS_PER_PAGE };
    const page = await snapshot((read) => listSettlementsBefore(read, query));
    const checked = page.filter(({ settled_at }) => settled_at >= logged.from);
    for (const { task_id } of checked) if (!logged.has(task_id)) report(task_id);
    const last = page.at(-1);
    if (last === undefined || checked.length < SETTLEMENTS_PER_PAGE) return;
    before = last.place;
  }
};

export const logChecks: readonly BooksCheck[] = [
  {
    code: "settlement_unlogged",
    name: "each settlement is in the transparency log",
    find: findUnloggedSettlements,
  },
];
