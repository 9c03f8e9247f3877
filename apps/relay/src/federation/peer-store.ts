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
    reserved: p("reserved"),
    missed_heartbeats: p("missed_heartbeats"),
    last_heartbeat_at: p("last_heartbeat_at"),
    last_timestamp: p("last_timestamp"),
    agent_count: p("agent_count"),
    forwards: p("forwards"),
    features: p("features"),
    incarnation: p("incarnation"),
  }),
);

const changePeer = prepare<Omit<FederationPeerRow, "reserved">>()(
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
      features: p("features"),
      incarnation: p("incarnation"),
    })
    .where("relay_id", "=", p("relay_id")),
);

/** Writes what is known of a peer, whether it is new or known; what is reserved for it stays. */
export async function putPeer(tx: Tx, peer: FederationPeerRow): Promise<void> {
  const { reserved: _, ...known } = peer;
  if ((await tx.run(changePeer, known)) === 0) await tx.run(addPeer, peer);
}

const reserve = prepare<{ relay_id: string; amount: number }>()(
  db
    .updateTable("federation_peers")
    .set({ reserved: sql`reserved + ${p("amount")}` })
    .where("relay_id", "=", p("relay_id")),
);

/** Adds to what open forwards to a peer may come to cost; a negative amount gives back. */
export async function changeReserved(tx: Tx, relay_id: string, amount: number): Promise<void> {
  await tx.run(reserve, { relay_id, amount });
}
