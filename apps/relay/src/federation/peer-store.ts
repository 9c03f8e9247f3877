import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";

const peerById = prepare<{ relay_id: string }>()(
  db.selectFrom("federation_peers").selectAll().where("relay_id", "=", p("relay_id")),
);

export function findPeer(read: Reader, relay_id: string): Promise<FederationPeerRow | undefined> {
  return read.get(peerById, { relay_id });
}

const allPeers = prepare()(
  db
    .selectFrom("federation_peers")
    .selectAll()
    .where("state", "!=", sql.lit("removed"))
    .orderBy("relay_id"),
);

const knownPeers = prepare()(db.selectFrom("federation_peers").selectAll().orderBy("relay_id"));

/** Every relay that ever was a peer, removed ones included. */
export function listKnownPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(knownPeers, {});
}

/** Every peer that was not removed; there are as many as the operator allows. */
export function listPeers(read: Reader): Promise<FederationPeerRow[]> {
  return read.all(allPeers, {});
}

const addPeer = prepare<FederationPeerRow>()(
  db.insertInto("federation_peers").values({
    relay_id: p("relay_id"),
    public_key: p("public_key"),
    endpoint_url: p("endpoint_url"),
    display_name: p("display_name"),
    state: p("state"),
    credit_limit: p("credit_limit"),
    missed_heartbeats: p("missed_heartbeats"),
    last_heartbeat_at: p("last_heartbeat_at"),
    last_timestamp: p("last_timestamp"),
    agent_count: p("agent_count"),
    forwards: p("forwards"),
    operator_removal: p("operator_removal"),
    features: p("features"),
    incarnation: p("incarnation"),
    admitted: p("admitted"),
    succession: p("succession"),
  }),
);

const changePeer = prepare<FederationPeerRow>()(
  db
    .updateTable("federation_peers")
    .set({
      public_key: p("public_key"),
      endpoint_url: p("endpoint_url"),
      display_name: p("display_name"),
      state: p("state"),
      credit_limit: p("credit_limit"),
      missed_heartbeats: p("missed_heartbeats"),
      last_heartbeat_at: p("last_heartbeat_at"),
      last_timestamp: p("last_timestamp"),
      agent_count: p("agent_count"),
      forwards: p("forwards"),
      operator_removal: p("operator_removal"),
      features: p("features"),
      incarnation: p("incarnation"),
      admitted: p("admitted"),
      succession: p("succession"),
    })
    .where("relay_id", "=", p("relay_id")),
);

interface KeyMove extends Pick<FederationPeerRow, "relay_id" | "public_key" | "succession"> {
  /** The key that the move was judged by. */
  readonly before: string;
}

const moveKey = prepare<KeyMove>()(
  db
    .updateTable("federation_peers")
    .set({ public_key: p("public_key"), succession: p("succession") })
    .where("relay_id", "=", p("relay_id"))
    .where("public_key", "=", p("before")),
);

/** Moves a peer's key on; false when it is not the expected one any more. */
export async function movePeerKey(tx: Tx, change: KeyMove): Promise<boolean> {
  return (await tx.run(moveKey, change)) === 1;
}

/** Writes what is known of a peer, whether it is new or known. */
export async function putPeer(tx: Tx, peer: FederationPeerRow): Promise<void> {
  if ((await tx.run(changePeer, peer)) === 0) await tx.run(addPeer, peer);
}
