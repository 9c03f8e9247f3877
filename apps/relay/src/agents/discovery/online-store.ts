import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";

interface AwakeQuery {
  /** Agents that were seen after this time are awake. */
  readonly since: number;
}

const isAwake = sql<boolean>`
  registered = 1 and endpoint_url is not null and unreachable_at is null
    and last_seen_at > ${param("since")}`;

const awakeCount = compile<AwakeQuery & { connected: string }>()(
  sql<{ awake: number }>`
    select count(*) as awake from agents
    where ${isAwake} and agent_id not in ${jsonTexts(param("connected"))}`,
);

/**
 * Counts the agents whose endpoint is expected to answer; `connected` is a JSON array of those with a socket,
 * which are not counted.
 */
export async function countAwakeAgents(
  read: Reader,
  query: AwakeQuery & { readonly connected: string },
): Promise<number> {
  return (await read.get(awakeCount, query))?.awake ?? 0;
}

const awakeAgents = compile<AwakeQuery>()(
  sql<{ agent_id: string }>`select agent_id from agents where ${isAwake}`,
);

/** Lists the agents whose endpoint is expected to answer. */
export async function listAwakeAgents(read: Reader, since: number): Promise<string[]> {
  return (await read.all(awakeAgents, { since })).map(({ agent_id }) => agent_id);
}
