import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import { matchesIfGiven } from "../storage/queries/matches-if-given.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentRow } from "../storage/tables/agents.ts";

/** An agent with its open tasks and its balance, in micro-units. */
export type ListedAgentRow = Pick<
  AgentRow,
  | "agent_id"
  | "endpoint_url"
  | "capabilities"
  | "metadata"
  | "registered"
  | "created_at"
  | "last_seen_at"
  | "unreachable_at"
  | "revoked_at"
> & { readonly open_tasks: number; readonly credentials: number; readonly balance: number };

interface AgentPageQuery {
  /** An empty text matches any state. */
  readonly state: string;
  /** An empty text matches any agent. */
  readonly agent: string;
  /** Words in the form of `parseSearchWords`. */
  readonly words: string;
  readonly after: string;
  readonly limit: number;
}

const columns = sql`agent_id, endpoint_url, capabilities, metadata, registered, created_at,
  last_seen_at, unreachable_at, revoked_at,
  (select count(*) from tasks where coalesce(assigned_to, tasks.agent_id) = agents.agent_id
    and status in ('pending', 'claimed')) as open_tasks,
  (select count(*) from credentials where credentials.agent_id = agents.agent_id) as credentials,
  coalesce((select balance from accounts where account = 'agent:' || agents.agent_id), 0) as balance`;

const isFiltered = sql<boolean>`
  (${param("state")} = '' or ${param("state")} = case when revoked_at is not null then 'revoked'
    when registered = 1 then 'registered' else 'bound' end)
  and ${matchesIfGiven("agent", "agents.agent_id")}
  and (${param("words")} = ''
    or text_rank(${param("words")}, agent_id, metadata, capabilities) > 0)`;

const agentsById = compile<AgentPageQuery>()(
  sql<ListedAgentRow>`
    select ${columns} from agents where agent_id > ${param("after")} and ${isFiltered}
    order by agent_id limit ${param("limit")}`,
);

/** Lists agents by id. */
export function listAgentsAfter(read: Reader, query: AgentPageQuery): Promise<ListedAgentRow[]> {
  return read.all(agentsById, query);
}

const agentsBySight = compile<AgentPageQuery & { seen: number }>()(
  sql<ListedAgentRow>`
    select ${columns} from agents
    where (last_seen_at < ${param("seen")}
      or (last_seen_at = ${param("seen")} and agent_id > ${param("after")})) and ${isFiltered}
    order by last_seen_at desc, agent_id limit ${param("limit")}`,
);

/** Lists agents, those that were seen last first. */
export function listAgentsBySight(
  read: Reader,
  query: AgentPageQuery & { readonly seen: number },
): Promise<ListedAgentRow[]> {
  return read.all(agentsBySight, query);
}

const recentFailures = compile<{ first: string; since: number }>()(
  sql<{ agent_id: string; failed: number }>`
    select coalesce(assigned_to, agent_id) as agent_id, count(*) as failed from tasks
    where status in ('failed', 'denied') and task_id >= ${param("first")}
      and finished_at >= ${param("since")}
    group by coalesce(assigned_to, agent_id)`,
);

/** Counts the tasks that failed since a time, by executor; `first` is the smallest id of that time. */
export function countRecentFailures(
  read: Reader,
  query: { first: string; since: number },
): Promise<{ agent_id: string; failed: number }[]> {
  return read.all(recentFailures, query);
}
