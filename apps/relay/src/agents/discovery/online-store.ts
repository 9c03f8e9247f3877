import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";

interface AwakeQuery {
  /** Agents that were seen after this time are awake. */
  readonly since: number;
  /** JSON array of the agents with a socket, which are not counted. */
  readonly connected: string;
}

const awakeAgents = compile<AwakeQuery>()(
  sql<{ awake: number }>`
    select count(*) as awake from agents
    where registered = 1 and endpoint_url is not null and unreachable_at is null
      and last_seen_at > ${param("since")}
      and agent_id not in ${jsonTexts(param("connected"))}`,
);

/** Counts the agents without a socket whose endpoint is expected to answer. */
export async function countAwakeAgents(read: Reader, query: AwakeQuery): Promise<number> {
  return (await read.get(awakeAgents, query))?.awake ?? 0;
}
