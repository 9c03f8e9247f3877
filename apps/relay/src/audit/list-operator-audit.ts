import type { Answer, OperatorAuditEntry, Operations, QueryOf } from "@agent/wire";
import { createPageAnswer } from "../http/paging/page.ts";
import type { Reader } from "../storage/storage.ts";
import type { AuditEntryRow } from "../storage/tables/audit.ts";
import { OPERATOR_ENTRIES } from "./operator-acts.ts";
import { listAllAuditEntries } from "./store.ts";

/** The key of an entry: its time, its agent and its number there. */
const newestFirst = {
  form: /^\d{1,16} \S{1,100} \d{1,15}$/,
  start: `${Number.MAX_SAFE_INTEGER} ~ 0`,
  keyFrom: String,
};

/** Lists what agents and operators did, newest first. */
export function listOperatorAudit(
  read: Reader,
  { actor = "", action = "", ...query }: QueryOf<Operations["listOperatorAudit"]>,
): Promise<Answer<Operations["listOperatorAudit"]>> {
  return createPageAnswer(query, {
    order: newestFirst,
    find(before, limit) {
      const [at = "", agent_id = "", sequence = ""] = before.split(" ");
      const place = { at: Number(at), agent_id, sequence: Number(sequence) };
      return listAllAuditEntries(read, { actor, action, ...place, limit });
    },
    keyOf: ({ at, agent_id, sequence }) => `${at} ${agent_id} ${sequence}`,
    show: (rows) => ({ entries: rows.map(toEntry) }),
  });
}

function toEntry({
  at,
  actor,
  device_id,
  action,
  agent_id,
  detail,
  result,
}: AuditEntryRow): OperatorAuditEntry {
  const entry = { at, actor, device_id, action, detail };
  return agent_id === OPERATOR_ENTRIES
    ? { ...entry, agent_id: null, result }
    : { ...entry, agent_id };
}
