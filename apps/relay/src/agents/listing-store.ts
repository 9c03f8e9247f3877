import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ListingRow } from "../storage/tables/agents.ts";

const listingByAgent = prepare<{ agent_id: string }>()(
  db.selectFrom("listings").selectAll().where("agent_id", "=", p("agent_id")),
);

export function findListing(read: Reader, agent_id: string): Promise<ListingRow | undefined> {
  return read.get(listingByAgent, { agent_id });
}

const upsertListing = prepare<ListingRow>()(
  db
    .insertInto("listings")
    .values({
      agent_id: p("agent_id"),
      listing_id: p("listing_id"),
      body: p("body"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.column("agent_id").doUpdateSet((row) => ({
        body: row.ref("excluded.body"),
        updated_at: row.ref("excluded.updated_at"),
      })),
    ),
);

export async function putListingRow(tx: Tx, row: ListingRow): Promise<void> {
  await tx.run(upsertListing, row);
}

const dropListing = prepare<{ agent_id: string }>()(
  db.deleteFrom("listings").where("agent_id", "=", p("agent_id")),
);

export async function deleteListing(tx: Tx, agent_id: string): Promise<void> {
  await tx.run(dropListing, { agent_id });
}
