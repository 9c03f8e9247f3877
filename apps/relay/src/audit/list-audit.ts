import type { Answer, Operations, QueryOf } from "@agent/wire";
import { numberDescending, createPageAnswer } from "../http/paging/page.ts";
import type { Reader } from "../storage/storage.ts";
import { listAuditEntries } from "./store.ts";

/** Lists audit entries, newest first. */
export async function listAudit(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listAudit"]>,
): Promise<Answer<Operations["listAudit"]>> {
  return createPageAnswer(query, {
    order: numberDescending,
    find: (before, limit) => listAuditEntries(read, { agent_id, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (entries) => ({ entries }),
  });
}
