import { sha256Hex } from "@agent/crypto";
import { getEmptyRoot } from "@agent/transparency";
import { limits } from "@agent/wire";
import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type {
  PeerWitnessRow,
  WitnessedRow,
  WitnessEvidenceRow,
} from "../storage/tables/witness.ts";

const witnessedByOrigin = compile<{ origin: string }>()(
  queryBuilder.selectFrom("witnessed").selectAll().where("origin", "=", param("origin")),
);

export function findWitnessed(read: Reader, origin: string): Promise<WitnessedRow | undefined> {
  return read.get(witnessedByOrigin, { origin });
}

const noteByHash = compile<{ origin_hash: string }>()(
  queryBuilder
    .selectFrom("witnessed")
    .select("note")
    .where("origin_hash", "=", param("origin_hash"))
    .where("size", ">", 0),
);

/** Finds the newest cosigned checkpoint of a log by the hash of its origin. */
export async function findCosignedNote(
  read: Reader,
  origin_hash: string,
): Promise<string | undefined> {
  return (await read.get(noteByHash, { origin_hash }))?.note;
}

const witnessedByRelay = compile<{ relay_id: string }>()(
  queryBuilder
    .selectFrom("witnessed")
    .selectAll()
    .where("relay_id", "=", param("relay_id"))
    .orderBy("pinned_at")
    .orderBy("origin"),
);

/** Lists the generations of a relay's log, oldest first. */
export function listWitnessedOf(read: Reader, relay_id: string): Promise<WitnessedRow[]> {
  return read.all(witnessedByRelay, { relay_id });
}

type NewLog = Pick<WitnessedRow, "origin" | "vkey" | "relay_id" | "pinned_at">;

const insertLogQuery = compile<WitnessedRow>()(
  queryBuilder
    .insertInto("witnessed")
    .values(
      params(
        "origin",
        "origin_hash",
        "vkey",
        "relay_id",
        "pinned_at",
        "size",
        "root",
        "note",
        "cosigned_at",
      ),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

/** Pins a log before its first head; false if its origin is pinned. */
export async function insertWitnessed(tx: Tx, log: NewLog): Promise<boolean> {
  const empty = { size: 0, root: getEmptyRoot(), note: "", cosigned_at: 0 };
  return (
    (await tx.run(insertLogQuery, { ...log, ...empty, origin_hash: sha256Hex(log.origin) })) === 1
  );
}

const deleteStatedQuery = compile<{ origin: string; vkey: string }>()(
  queryBuilder
    .deleteFrom("witnessed")
    .where("origin", "=", param("origin"))
    .where("vkey", "!=", param("vkey"))
    .where("relay_id", "is not", null),
);

/** Removes the log that a peer stated under the same name with a different key. */
export async function deleteStatedLog(
  tx: Tx,
  log: Pick<WitnessedRow, "origin" | "vkey">,
): Promise<void> {
  await tx.run(deleteStatedQuery, log);
}

type OwnedLog = Pick<WitnessedRow, "origin" | "vkey" | "relay_id">;

const changeOwnerQuery = compile<OwnedLog>()(
  queryBuilder
    .updateTable("witnessed")
    .set(params("relay_id"))
    .where("origin", "=", param("origin"))
    .where("vkey", "=", param("vkey")),
);

/** Records the relay that states a known log, under its known key, as its own. */
export async function changeLogOwner(tx: Tx, log: OwnedLog): Promise<void> {
  await tx.run(changeOwnerQuery, log);
}

type Cosigned = Pick<WitnessedRow, "origin" | "vkey" | "size" | "root" | "note" | "cosigned_at"> & {
  readonly old_size: number;
};

const cosignQuery = compile<Cosigned>()(
  queryBuilder
    .updateTable("witnessed")
    .set(params("size", "root", "note", "cosigned_at"))
    .where("origin", "=", param("origin"))
    .where("vkey", "=", param("vkey"))
    .where("size", "=", param("old_size")),
);

/** Stores a cosigned head; false if another one was cosigned since the proof was checked. */
export async function updateWitnessed(tx: Tx, head: Cosigned): Promise<boolean> {
  return (await tx.run(cosignQuery, head)) === 1;
}

const evidenceOfLog = compile<{ origin: string }>()(
  queryBuilder
    .selectFrom("witness_evidence")
    .select(["evidence_id", "code"])
    .where("origin", "=", param("origin"))
    .orderBy("seen_at"),
);

const deleteEvidenceQuery = compile<{ evidence_id: string }>()(
  queryBuilder.deleteFrom("witness_evidence").where("evidence_id", "=", param("evidence_id")),
);

const insertEvidenceQuery = compile<WitnessEvidenceRow>()(
  queryBuilder
    .insertInto("witness_evidence")
    .values(params("evidence_id", "origin", "code", "held", "offered", "seen_at"))
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Stores evidence against a log; false if it is known or there is no room. Two roots of one size replace a
 * head without a valid proof, because every reader of the log can send the latter.
 */
export async function insertEvidence(
  tx: Tx,
  evidence: Omit<WitnessEvidenceRow, "evidence_id">,
): Promise<boolean> {
  const { origin, code } = evidence;
  const kept = await tx.all(evidenceOfLog, { origin });
  if (kept.length >= limits.witnessEvidence) {
    const weaker = kept.find((each) => each.code !== "log.equivocation");
    if (weaker === undefined || code !== "log.equivocation") return false;
    await tx.run(deleteEvidenceQuery, weaker);
  }
  const evidence_id = sha256Hex(evidence.offered);
  return (await tx.run(insertEvidenceQuery, { ...evidence, evidence_id })) === 1;
}

const evidenceCount = compile()(
  queryBuilder.selectFrom("witness_evidence").select(({ fn }) => fn.countAll<number>().as("count")),
);

export async function countEvidence(read: Reader): Promise<number> {
  return (await read.get(evidenceCount, {}))?.count ?? 0;
}

const allEvidence = compile()(
  queryBuilder.selectFrom("witness_evidence").selectAll().orderBy("seen_at"),
);

export function listEvidence(read: Reader): Promise<WitnessEvidenceRow[]> {
  return read.all(allEvidence, {});
}

const insertPeerWitness = compile<PeerWitnessRow>()(
  queryBuilder
    .insertInto("peer_witnesses")
    .values(params("relay_id", "vkey", "prefix"))
    .onConflict((conflict) => conflict.column("relay_id").doUpdateSet(params("vkey", "prefix"))),
);

/** Stores the witness that a peer offers now. */
export async function savePeerWitness(tx: Tx, row: PeerWitnessRow): Promise<void> {
  await tx.run(insertPeerWitness, row);
}

const deletePeerWitnessQuery = compile<{ relay_id: string }>()(
  queryBuilder.deleteFrom("peer_witnesses").where("relay_id", "=", param("relay_id")),
);

/** Removes the witness of a peer that no longer offers one. */
export async function deletePeerWitness(tx: Tx, relay_id: string): Promise<void> {
  await tx.run(deletePeerWitnessQuery, { relay_id });
}

const activeWitnesses = compile()(
  queryBuilder
    .selectFrom("peer_witnesses")
    .innerJoin("federation_peers", "federation_peers.relay_id", "peer_witnesses.relay_id")
    .selectAll("peer_witnesses")
    .where("federation_peers.state", "=", sql.lit("active"))
    .orderBy("peer_witnesses.relay_id"),
);

/** Lists the witnesses of all active peers. */
export function listPeerWitnesses(read: Reader): Promise<PeerWitnessRow[]> {
  return read.all(activeWitnesses, {});
}
