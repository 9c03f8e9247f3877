import { FEDERATION_LIMITS } from "@agent/federation-protocol";
import type { PendingPeer } from "@agent/federation-protocol/peering";
import { limits } from "@agent/wire";
import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Storage, Tx } from "../../storage/storage.ts";
import type { PendingPeerRow } from "../../storage/tables/processes.ts";
import type { PendingPeers } from "./pending-peers.ts";

const pendingById = compile<{ relay_id: string }>()(
  queryBuilder
    .selectFrom("federation_pending")
    .select("body")
    .where("relay_id", "=", param("relay_id")),
);

const everyPending = compile()(
  queryBuilder.selectFrom("federation_pending").select("body").orderBy("relay_id"),
);

const savePending = compile<PendingPeerRow>()(
  queryBuilder
    .insertInto("federation_pending")
    .values(params("relay_id", "body", "forget_at"))
    .onConflict((conflict) => conflict.column("relay_id").doUpdateSet(params("body", "forget_at"))),
);

const deleteLeftOver = compile<{ now: number; relay_id: string; limit: number }>()(
  queryBuilder.deleteFrom("federation_pending").where(
    sql<boolean>`forget_at <= ${param("now")} or relay_id in (
      select relay_id from federation_pending where relay_id <> ${param("relay_id")}
      order by forget_at desc, relay_id limit 1000 offset ${param("limit")})`,
  ),
);

const takePending = compile<{ relay_id: string }>()(
  queryBuilder
    .deleteFrom("federation_pending")
    .where("relay_id", "=", param("relay_id"))
    .returning("body"),
);

/** Returns the proposals that all processes of the relay share. */
export function createSharedPendingPeers(
  storage: Pick<Storage, "read" | "transaction" | "runAlone">,
): PendingPeers {
  return {
    find: (relay_id) => findPending(storage.read, relay_id),
    add: (pending, now) => storage.transaction((tx) => addPending(tx, pending, now)),
    async take(relay_id) {
      return parsePending(await storage.runAlone(takePending, { relay_id }));
    },
    async list() {
      const rows = await storage.read.all(everyPending, {});
      return rows.map(({ body }) => JSON.parse(body) as PendingPeer);
    },
  };
}

async function findPending(read: Reader, relay_id: string): Promise<PendingPeer | undefined> {
  return parsePending(await read.get(pendingById, { relay_id }));
}

async function addPending(tx: Tx, pending: PendingPeer, now: number): Promise<void> {
  const { relayId: relay_id } = pending.peer;
  await tx.run(deleteLeftOver, { now, relay_id, limit: limits.federationProposals - 1 });
  const forget_at = pending.proposedAt + FEDERATION_LIMITS.proposalLifetimeMs + 1;
  await tx.run(savePending, { relay_id, body: JSON.stringify(pending), forget_at });
}

function parsePending(row: { readonly body: string } | undefined): PendingPeer | undefined {
  return row === undefined ? undefined : (JSON.parse(row.body) as PendingPeer);
}
