import { toDollars } from "@agent/budget";
import type { Answer, Hold, Operations, QueryOf } from "@agent/wire";
import { createPageAnswer, textAscending } from "../http/paging/page.ts";
import type { Services } from "../services.ts";
import { listHoldsAfter, type HoldRow } from "./holds-store.ts";

/** Lists the money that is held for tasks, oldest first. */
export function listHolds(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { older_than: age = 0, ...query }: QueryOf<Operations["listHolds"]>,
): Promise<Answer<Operations["listHolds"]>> {
  const latest = runtime.now() - age;
  return createPageAnswer(query, {
    order: textAscending,
    find: (after, limit) => listHoldsAfter(storage.read, { after, limit, latest }),
    keyOf: ({ place }) => place,
    show: (rows) => ({ holds: rows.map(toHold) }),
  });
}

export function toHold({ task_id, payer_id, amount, since, until, state }: HoldRow): Hold {
  return { task_id, payer_id, amount: toDollars(amount), since, until, state };
}
