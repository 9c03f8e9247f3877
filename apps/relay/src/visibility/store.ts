import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";

const mostOfferedFirst = prepare<{ limit: number }>()(
  db.selectFrom("capability_counts").selectAll().orderBy("agents", "desc").limit(p("limit")),
);

const countOf = prepare<{ capability: string }>()(
  db.selectFrom("capability_counts").select("agents").where("capability", "=", p("capability")),
);

/** The most offered capabilities, with the number of agents that offer each. */
export async function mostOffered(read: Reader, limit: number): Promise<Map<string, number>> {
  const rows = await read.all(mostOfferedFirst, { limit });
  return new Map(rows.map(({ capability, agents }) => [capability, agents]));
}

export async function agentsOffering(read: Reader, capability: string): Promise<number> {
  return (await read.get(countOf, { capability }))?.agents ?? 0;
}
