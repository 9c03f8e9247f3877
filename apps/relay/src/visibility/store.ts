import { queryBuilder, param, compile } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

const mostOfferedFirst = compile<{ limit: number }>()(
  queryBuilder
    .selectFrom("capability_counts")
    .selectAll()
    .orderBy("agents", "desc")
    .limit(param("limit")),
);

const selectCount = compile<{ capability: string }>()(
  queryBuilder
    .selectFrom("capability_counts")
    .select("agents")
    .where("capability", "=", param("capability")),
);

/** Lists the most offered capabilities, with the number of agents that offer each. */
export async function listTopCapabilities(
  read: Reader,
  limit: number,
): Promise<Map<string, number>> {
  const rows = await read.all(mostOfferedFirst, { limit });
  return new Map(rows.map(({ capability, agents }) => [capability, agents]));
}

export async function countAgentsOffering(read: Reader, capability: string): Promise<number> {
  return (await read.get(selectCount, { capability }))?.agents ?? 0;
}
