import { prepare, sql } from "../../storage/prepared.ts";
import type { Reader } from "../../storage/storage.ts";

/** What is reserved for a peer, in micro-units, said twice. */
export interface Reserved {
  readonly relay_id: string;
  /** What credit checks count. */
  readonly stored: number;
  /** The same by open forwards and settlements that are not decided. */
  readonly derived: number;
}

const byPeers = prepare()(
  sql<Reserved>`
    select relay_id, sum(stored) as stored, sum(derived) as derived from (
      select relay_id, reserved as stored, 0 as derived from federation_peers
      union all
      select relay_id, 0, cast(body ->> '$.terms.net' as integer) from federation_outbound
        where ended_at is null
          and (body ->> '$.state' <> 'relaying' or body ->> '$.receiptStatus' = 'completed')
      union all
      select o.relay_id, 0, cast(o.body ->> '$.terms.net' as integer)
        from federation_inbound as i join federation_outbound as o on o.task_id = i.task_id
        where i.settlement_id is null and i.body ->> '$.hold' = 'open'
          and o.body ->> '$.state' = 'completed'
      union all
      select relay_id, 0, cast(body ->> '$.settlement.terms.net' as integer)
        from federation_outbox where ended_at is null
    ) group by relay_id order by relay_id`,
);

/** Every peer with both sums, which must be equal. */
export function reservedByPeers(read: Reader): Promise<Reserved[]> {
  return read.all(byPeers, {});
}
