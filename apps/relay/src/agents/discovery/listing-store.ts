import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
} from "../../storage/queries/compiled-query.ts";
import { inRowForm } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { ListingRow } from "../../storage/tables/agents.ts";
import { KEYED_TABLES } from "../../storage/tables/keyed-tables.ts";

const listingByAgent = inBatches(
  inRowForm(
    compile<{ agent_id: string }>()(
      queryBuilder.selectFrom("listings").selectAll().where("agent_id", "=", param("agent_id")),
    ),
    { kind: "find", table: KEYED_TABLES.listings },
  ),
);

export function findListing(read: Reader, agent_id: string): Promise<ListingRow | undefined> {
  return read.get(listingByAgent, { agent_id });
}

const upsertListing = compile<ListingRow>()(
  queryBuilder
    .insertInto("listings")
    .values(params("agent_id", "listing_id", "body", "updated_at"))
    .onConflict((conflict) =>
      conflict.column("agent_id").doUpdateSet((row) => ({
        body: row.ref("excluded.body"),
        updated_at: row.ref("excluded.updated_at"),
      })),
    ),
);

export async function saveListing(tx: Tx, row: ListingRow): Promise<void> {
  await tx.run(upsertListing, row);
}

const deleteListingQuery = compile<{ agent_id: string }>()(
  queryBuilder.deleteFrom("listings").where("agent_id", "=", param("agent_id")),
);

export async function deleteListing(tx: Tx, agent_id: string): Promise<void> {
  await tx.run(deleteListingQuery, { agent_id });
}
