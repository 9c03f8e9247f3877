import type { PricedListing } from "@agent/wire";
import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { ShownOfferRow } from "../storage/tables/processes.ts";
import { listReaders, type ShownOffers } from "./shown-offers.ts";

/** A client that read a card on the day before is not bound to the price of that card. */
const KEPT_MS = 86_400_000;
const MAX_OFFERS = 10_000;

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

/** Creates a store of the cards that any process of the relay showed, because another one may get the message. */
export function createSharedOffers(
  { read, runAlone }: Pick<Storage, "read" | "runAlone">,
  now: () => number,
): ShownOffers {
  return {
    async record(context, agent_id, offer) {
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

const deleteOld = compile<{ now: number; limit: number }>()(
  queryBuilder.deleteFrom("shown_offers").where(
    sql<boolean>`forget_at <= ${param("now")} or (reader, agent_id) in (
      select reader, agent_id from shown_offers
      order by forget_at desc, reader, agent_id limit ${param("limit")} offset ${param("limit")})`,
  ),
);

/** Deletes offers that were shown long ago, and the oldest of too many. */
export async function deleteOldOffers(tx: Tx, now: number): Promise<void> {
  await tx.run(deleteOld, { now, limit: MAX_OFFERS });
}
