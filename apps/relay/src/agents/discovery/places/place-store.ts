import { compile, param, params, queryBuilder } from "../../../storage/queries/compiled-query.ts";
import { inRowForm } from "../../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../../storage/storage.ts";
import { KEYED_TABLES } from "../../../storage/tables/keyed-tables.ts";

const feesOfExecutor = inRowForm(
  compile<{ agent_id: string }>()(
    queryBuilder
      .selectFrom("agent_histories")
      .select("fees_kept")
      .where("agent_id", "=", param("agent_id")),
  ),
  { kind: "find", table: KEYED_TABLES.agent_histories, columns: ["fees_kept"] },
);

/** Finds the fees that the relay kept on the tasks that an agent completed, in micro-units. */
export async function findFeesKept(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(feesOfExecutor, { agent_id }))?.fees_kept ?? 0;
}

interface AgentPlace {
  readonly agent_id: string;
  readonly place: string;
}

const updatePlaceQuery = inRowForm(
  compile<AgentPlace>()(
    queryBuilder
      .updateTable("agents")
      .set(params("place"))
      .where("agent_id", "=", param("agent_id")),
  ),
  { kind: "update", table: KEYED_TABLES.agents, change: (_, { place }) => ({ place }) },
);

/** Changes the place of an agent, and of its capabilities by a trigger. */
export async function updatePlace(tx: Tx, place: AgentPlace): Promise<void> {
  await tx.run(updatePlaceQuery, place);
}
