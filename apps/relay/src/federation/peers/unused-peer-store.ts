import { compile, param, sql } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";

// The two scans read only an index, and only for a peer without an account and a record.
const deleteUnused = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from federation_peers where relay_id in (
      select relay_id from federation_peers as peer
      where state = 'removed' and operator_removal is null and credit_set = 0 and admitted = 0
        and last_timestamp <= ${param("until")} and coalesce(last_heartbeat_at, 0) <= ${param("until")}
        and not exists (select 1 from accounts where account = 'peer:' || peer.relay_id)
        and not exists (select 1 from trust_records where remote_agent_id = peer.relay_id)
        and relay_id not in (select relay_id from federation_outbound where forwarded_at is not null)
        and relay_id not in (select relay_id from federation_inbound where received_at is not null)
      limit ${param("limit")})`,
);

const deleteWitnesses = compile()(
  sql<never>`
    delete from peer_witnesses where relay_id not in (select relay_id from federation_peers)`,
);

/** Deletes removed peers to which nothing refers and whose last sign of life was before `until`. */
export async function purgePeers(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  const deleted = await tx.run(deleteUnused, old);
  if (deleted > 0) await tx.run(deleteWitnesses, {});
  return deleted;
}
