import { p, prepare, sql } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";

const counts = prepare<{ limit: number }>()(
  sql<{ capability: string; agents: number }>`
    select capability, count(*) as agents from agent_capabilities
    group by capability order by agents desc limit ${p("limit")}`,
);

/** The most offered capabilities, with the number of agents that offer each. */
export async function mostOffered(read: Reader, limit: number): Promise<Map<string, number>> {
  const rows = await read.all(counts, { limit });
  return new Map(rows.map(({ capability, agents }) => [capability, agents]));
}
