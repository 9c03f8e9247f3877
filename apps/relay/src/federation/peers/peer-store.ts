import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";

const peerById = compile<{ relay_id: string }>()(
  queryBuilder.selectFrom("federation_peers").selectAll().where("relay_id", "=", param("relay_id")),
);

export function findPeer(read: Reader, relay_id: string): Promise<FederationPeerRow | undefined> {
  return read.get(peerById, { relay_id });
}

const selectLive = compile()(
  queryBuilder
    .selectFrom("federation_peers")
    .selectAll()
    .where("state", "!=", sql.lit("removed"))
    .orderBy("relay_id"),
);

const knownPeers = compile()(
  queryBuilder.selectFrom("federation_peers").selectAll().orderBy("relay_id"),
);

/** Every relay that ever was a peer, removed ones included. */
export function listKnownPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(knownPeers, {});
}

/** Every peer that was not removed; there are as many as the operator allows. */
export function listPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(selectLive, {});
}

const insertPeer = compile<FederationPeerRow>()(
  queryBuilder
    .insertInto("federation_peers")
    .values(
      params(
        "relay_id",
        "public_key",
        "endpoint_url",
        "display_name",
        "state",
        "credit_limit",
        "missed_heartbeats",
        "last_heartbeat_at",
        "last_timestamp",
        "agent_count",
        "forwards",
        "operator_removal",
        "features",
        "incarnation",
        "admitted",
        "succession",
      ),
    ),
);

const updatePeer = compile<FederationPeerRow>()(
  queryBuilder
    .updateTable("federation_peers")
    .set(
      params(
        "public_key",
        "endpoint_url",
        "display_name",
        "state",
        "credit_limit",
        "missed_heartbeats",
        "last_heartbeat_at",
        "last_timestamp",
        "agent_count",
        "forwards",
        "operator_removal",
        "features",
        "incarnation",
        "admitted",
        "succession",
      ),
    )
    .where("relay_id", "=", param("relay_id")),
);

interface KeyChange extends Pick<FederationPeerRow, "relay_id" | "public_key" | "succession"> {
  /** The key that the move was judged by. */
  readonly before: string;
}

const updateKey = compile<KeyChange>()(
  queryBuilder
    .updateTable("federation_peers")
    .set(params("public_key", "succession"))
    .where("relay_id", "=", param("relay_id"))
    .where("public_key", "=", param("before")),
);

/** Moves a peer's key on; false when it is not the expected one any more. */
export async function updatePeerKey(tx: Tx, change: KeyChange): Promise<boolean> {
  return (await tx.run(updateKey, change)) === 1;
}

/** Writes what is known of a peer, whether it is new or known. */
export async function savePeer(tx: Tx, peer: FederationPeerRow): Promise<void> {
  if ((await tx.run(updatePeer, peer)) === 0) await tx.run(insertPeer, peer);
}
