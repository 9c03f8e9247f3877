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

/** Lists every relay that was ever a peer, removed ones included. */
export function listKnownPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(knownPeers, {});
}

/** Lists every peer that was not removed; the operator limits their number. */
export function listPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(selectLive, {});
}

const STATE_COLUMNS = [
  "public_key",
  "endpoint_url",
  "display_name",
  "state",
  "credit_limit",
  "credit_set",
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
] as const satisfies readonly (keyof FederationPeerRow)[];

const insertPeer = compile<FederationPeerRow>()(
  queryBuilder.insertInto("federation_peers").values(params("relay_id", ...STATE_COLUMNS)),
);

const updatePeer = compile<FederationPeerRow>()(
  queryBuilder
    .updateTable("federation_peers")
    .set(params(...STATE_COLUMNS))
    .where("relay_id", "=", param("relay_id")),
);

interface KeyChange extends Pick<FederationPeerRow, "relay_id" | "public_key" | "succession"> {
  /** The key on record when the change was checked. */
  readonly before: string;
}

const updateKey = compile<KeyChange>()(
  queryBuilder
    .updateTable("federation_peers")
    .set(params("public_key", "succession"))
    .where("relay_id", "=", param("relay_id"))
    .where("public_key", "=", param("before")),
);

/** Replaces a peer's key; false when the key on record is no longer the expected one. */
export async function updatePeerKey(tx: Tx, change: KeyChange): Promise<boolean> {
  return (await tx.run(updateKey, change)) === 1;
}

/** Inserts or updates a peer. */
export async function savePeer(tx: Tx, peer: FederationPeerRow): Promise<void> {
  if ((await tx.run(updatePeer, peer)) === 0) await tx.run(insertPeer, peer);
}
