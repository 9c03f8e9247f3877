import type { Answer, Operations, QueryOf } from "@agent/wire";
import { numberDown, answerPage } from "../http/page.ts";
import type { Reader } from "../storage/storage.ts";
import { entriesOf } from "./store.ts";

/** Newest first. */
export async function listAudit(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listAudit"]>,
): Promise<Answer<Operations["listAudit"]>> {
  return answerPage(query, {
    order: numberDown,
    find: (before, limit) => entriesOf(read, { agent_id, before, limit }),
    keyOf: ({ sequence }) => sequence,
    show: (entries) => ({ entries }),
  });
}
