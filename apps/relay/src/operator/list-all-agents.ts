import { toDollars } from "@agent/budget";
import { uuidV7 } from "@agent/crypto";
import type { Answer, Operations, OperatorAgent, QueryOf } from "@agent/wire";
import { isOnline } from "../agents/discovery/online.ts";
import { DAY_MS } from "../clock/durations.ts";
import { createPageAnswer, textAscending } from "../http/paging/page.ts";
import type { Services } from "../services.ts";
import { parseSearchWords } from "../storage/queries/text-rank.ts";
import {
  countRecentFailures,
  listAgentsAfter,
  listAgentsBySight,
  type ListedAgentRow,
} from "./all-agents-store.ts";

type ListServices = Pick<Services, "storage" | "runtime" | "connections">;

/** The longest lifetime of a task; an older one cannot have failed within the last day. */
const MAX_TASK_AGE_MS = 8 * DAY_MS;

/** The key of an agent in a list by sight: the time and the agent. */
const lastSeenFirst = {
  form: /^\d{1,16} \S*$/,
  start: `${Number.MAX_SAFE_INTEGER} `,
  keyFrom: String,
};

/** Lists every agent that was ever bound to a key here. */
export async function listAllAgents(
  services: ListServices,
  { state, agent = "", q, sort = "id", ...query }: QueryOf<Operations["listAllAgents"]>,
): Promise<Answer<Operations["listAllAgents"]>> {
  const { read } = services.storage;
  const filter = { state: state ?? "", agent, words: parseSearchWords(q ?? "") };
  const show = async (rows: ListedAgentRow[]) => ({ agents: await showAgents(services, rows) });
  if (sort === "id") {
    return createPageAnswer(query, {
      order: textAscending,
      find: (after, limit) => listAgentsAfter(read, { ...filter, after, limit }),
      keyOf: ({ agent_id }) => agent_id,
      show,
    });
  }
  return createPageAnswer(query, {
    order: lastSeenFirst,
    find(key, limit) {
      const [seen = "", after = ""] = key.split(" ");
      return listAgentsBySight(read, { ...filter, seen: Number(seen), after, limit });
    },
    keyOf: ({ last_seen_at, agent_id }) => `${last_seen_at} ${agent_id}`,
    show,
  });
}

async function showAgents(
  { storage, runtime, connections }: ListServices,
  rows: readonly ListedAgentRow[],
): Promise<OperatorAgent[]> {
  const now = runtime.now();
  const first = uuidV7(Math.max(0, now - DAY_MS - MAX_TASK_AGE_MS), new Uint8Array(10));
  const failures = await countRecentFailures(storage.read, { first, since: now - DAY_MS });
  const failed = new Map(failures.map((row) => [row.agent_id, row.failed]));
  return rows.map((row) => {
    const { name } = JSON.parse(row.metadata) as { name?: unknown };
    return {
      agent_id: row.agent_id,
      name: typeof name === "string" ? name : null,
      state: stateOf(row),
      online: isOnline(row, connections, now),
      sockets: connections.countSockets(row.agent_id),
      capabilities: JSON.parse(row.capabilities) as string[],
      first_seen_at: row.created_at,
      last_seen_at: row.last_seen_at,
      unreachable_at: row.unreachable_at,
      open_tasks: row.open_tasks,
      credentials: row.credentials,
      balance: toDollars(row.balance),
      failed_24h: failed.get(row.agent_id) ?? 0,
    };
  });
}

function stateOf({ revoked_at, registered }: ListedAgentRow): "revoked" | "registered" | "bound" {
  if (revoked_at !== null) return "revoked";
  return registered === 1 ? "registered" : "bound";
}
