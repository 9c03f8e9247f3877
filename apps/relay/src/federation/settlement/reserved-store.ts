import { asMicro, type Micro } from "@agent/budget";
import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import { jsonMember } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";

const sumPayable = compile<{ relay_id: string }>()(
  sql<{ reserved: number }>`
    select
      (select coalesce(sum(payable), 0) from federation_outbound
        where relay_id = ${param("relay_id")} and payable > 0) +
      (select coalesce(sum(payable), 0) from federation_outbox
        where relay_id = ${param("relay_id")} and payable > 0) as reserved`,
);

/**
 * Returns the amount that open forwards to a peer and undecided settlements may still add to its
 * account.
 */
export async function getReservedAmount(read: Reader, relay_id: string): Promise<Micro> {
  return asMicro((await read.get(sumPayable, { relay_id }))?.reserved ?? 0);
}

/** The amount that is reserved for a peer, in micro-units, calculated in two ways. */
export interface PeerReservation {
  readonly relay_id: string;
  /** The amount in credit checks: the sum over the rows of forwards and settlements. */
  readonly stored: number;
  /** The same amount from the peer's tasks, the open holds of relayed results and the outbox. */
  readonly derived: number;
}

const sumByPeer = compile()(
  sql<PeerReservation>`
    select relay_id, sum(stored) as stored, sum(derived) as derived from (
      select relay_id, payable as stored, 0 as derived from federation_outbound where payable > 0
      union all
      select relay_id, payable, 0 from federation_outbox where payable > 0
      union all
      select o.relay_id, 0, cast(${jsonMember("o.body", "terms", "net")} as bigint)
        from tasks as t join federation_outbound as o on o.task_id = t.task_id
        where t.status = 'claimed' and t.via_peer is not null
      union all
      select o.relay_id, 0, cast(${jsonMember("o.body", "terms", "net")} as bigint)
        from federation_inbound as i join federation_outbound as o on o.task_id = i.task_id
        where i.settlement_id is null and ${jsonMember("i.body", "hold")} = 'open'
          and ${jsonMember("i.body", "receiptStatus")} = 'completed'
          and ${jsonMember("i.body", "state")} <> 'void'
      union all
      select relay_id, 0, cast(${jsonMember("body", "settlement", "terms", "net")} as bigint)
        from federation_outbox where ended_at is null
    ) as amounts group by relay_id order by relay_id`,
);

/**
 * Lists every peer for which an amount is reserved, for reconciliation; both sums must be equal. The hold
 * of a refused result may still be open, but no settlement of it is accepted.
 */
export function listPeerReservations(read: Reader): Promise<PeerReservation[]> {
  return read.all(sumByPeer, {});
}
