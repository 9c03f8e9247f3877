import { compile, inBatches, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

/** The facts about an agent of this relay that decide whether it may be the target of a task. */
interface LocalTarget {
  /** The JSON of its listing; null without one. */
  readonly listing: string | null;
  /** Null for an agent in force and for an unknown one. */
  readonly revoked_at: number | null;
}

// One statement for both, because each submission needs them.
const targetById = inBatches(
  compile<{ agent_id: string }>()(
    sql<LocalTarget>`
      select
        (select body from listings where agent_id = ${param("agent_id")}) as listing,
        (select revoked_at from agents where agent_id = ${param("agent_id")}) as revoked_at`,
  ),
);

export async function findTarget(read: Reader, agent_id: string): Promise<LocalTarget> {
  return (await read.get(targetById, { agent_id })) ?? { listing: null, revoked_at: null };
}
