import { ZERO, type Micro } from "@agent/budget";
import type { OwnPosition } from "@agent/federation-protocol/settlement";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";

// One statement, so that the balance and the pending work are read from the same snapshot.
const selectPosition = compile<{ relay_id: string }>()(
  sql<{ balance: Micro | null; moved_at: number | null; under_way: number }>`
    select
      (select balance from accounts where account = 'peer:' || ${param("relay_id")}) as balance,
      (select created_at from postings
        where account = 'peer:' || ${param("relay_id")} order by sequence desc limit 1) as moved_at,
      exists (select 1 from federation_outbound
          where relay_id = ${param("relay_id")} and ended_at is null)
        or exists (select 1 from federation_inbound
          where relay_id = ${param("relay_id")}
            and ended_at is null and settlement_id is null and defaulted is null)
        or exists (select 1 from federation_outbox
          where relay_id = ${param("relay_id")} and ended_at is null) as under_way`,
);

/** Returns what this relay owes a peer by its books, and whether anything between them is in flight. */
export async function getPeerPosition(read: Reader, relay_id: string): Promise<OwnPosition> {
  const row = await read.get(selectPosition, { relay_id });
  return {
    amount: row?.balance ?? ZERO,
    underWay: row?.under_way === 1,
    movedAt: row?.moved_at ?? null,
  };
}
