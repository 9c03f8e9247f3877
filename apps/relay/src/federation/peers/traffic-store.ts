import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

/** Exported for the test of its plan. */
export const tasksSince = compile<{ since: number }>()(
  sql<{ relay_id: string; tasks: number }>`
    select relay_id, count(*) as tasks from (
      select relay_id from federation_outbound where forwarded_at >= ${param("since")}
      union all
      select relay_id from federation_inbound where received_at >= ${param("since")}
    ) as traffic group by relay_id`,
);

/** Counts the tasks that went to each peer or came from it since a time. */
export async function countPeerTasks(
  read: Reader,
  since: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await read.all(tasksSince, { since });
  return new Map(rows.map(({ relay_id, tasks }) => [relay_id, tasks]));
}
