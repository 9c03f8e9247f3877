import { limits, type PricedListing } from "@agent/wire";
import type { Freezer } from "../admin/freeze.ts";
import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { ShownOfferRow } from "../storage/tables/processes.ts";
import { listReaders, type ShownOffers } from "./shown-offers.ts";

/** A client that read a card on the day before is not bound to the price of that card. */
const KEPT_MS = 86_400_000;
const OFFERS_PER_READER = 50;
/** A reader displaces the offers of others only together with a thousand more. */
const MAX_OFFERS = limits.cardReaders * OFFERS_PER_READER;

// A card that is read again within a minute is not written again, because no token is needed to read cards.
const saveOffer = compile<ShownOfferRow>()(
  sql<{ reader: string }>`
    insert into shown_offers (reader, agent_id, offer, forget_at)
    values (${param("reader")}, ${param("agent_id")}, ${param("offer")}, ${param("forget_at")})
    on conflict (reader, agent_id) do update set
      offer = excluded.offer, forget_at = excluded.forget_at
    where shown_offers.offer <> excluded.offer or shown_offers.forget_at < excluded.forget_at - 60000
    returning reader`,
);

const offersToReader = compile<{
  agent_id: string;
  first: string;
  second: string;
  now: number;
}>()(
  queryBuilder
    .selectFrom("shown_offers")
    .select(["reader", "offer"])
    .where("agent_id", "=", param("agent_id"))
    .where("reader", "in", [param("first"), param("second")])
    .where("forget_at", ">", param("now")),
);

/**
 * Creates a store of the cards that any process of the relay showed, because another one may get the message. A
 * frozen relay stores none; it accepts no message either.
 */
export function createSharedOffers(
  { read, runAlone }: Pick<Storage, "read" | "runAlone">,
  freezer: Pick<Freezer, "frozen">,
  now: () => number,
): ShownOffers {
  return {
    async record(context, agent_id, offer) {
      if (freezer.frozen() !== undefined) return;
      const [reader] = listReaders(context);
      const row = { reader, agent_id, offer: JSON.stringify(offer), forget_at: now() + KEPT_MS };
      await runAlone(saveOffer, row);
    },
    async latest(context, agent_id) {
      const [first, second = first] = listReaders(context);
      const rows = await read.all(offersToReader, { agent_id, first, second, now: now() });
      const shown = rows.find(({ reader }) => reader === first) ?? rows[0];
      return shown && (JSON.parse(shown.offer) as PricedListing);
    },
  };
}

const deleteExpired = compile<{ now: number; kept: number }>()(
  queryBuilder.deleteFrom("shown_offers").where(
    sql<boolean>`forget_at <= ${param("now")} or (reader, agent_id) in (
      select reader, agent_id from (
        select reader, agent_id,
          row_number() over (partition by reader order by forget_at desc, agent_id) as place
        from shown_offers) as placed
      where place > ${param("kept")})`,
  ),
);

const deleteOldest = compile<{ kept: number }>()(
  queryBuilder.deleteFrom("shown_offers").where(
    sql<boolean>`(reader, agent_id) in (
      select reader, agent_id from shown_offers
      order by forget_at desc, reader, agent_id limit ${param("kept")} offset ${param("kept")})`,
  ),
);

/** Deletes offers that were shown long ago, the oldest of a reader with too many, then the oldest of all. */
export async function deleteOldOffers(tx: Tx, now: number): Promise<void> {
  await tx.run(deleteExpired, { now, kept: OFFERS_PER_READER });
  await tx.run(deleteOldest, { kept: MAX_OFFERS });
}
