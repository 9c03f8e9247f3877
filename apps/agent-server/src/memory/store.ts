import type { Database } from "better-sqlite3";
import type { Decay } from "./decay.ts";
import type { Sensitivity } from "./sensitivity.ts";

export type MemoryType = "semantic" | "episodic";

export interface StoredMemory extends Decay {
  readonly nodeId: string;
  /** The key of the caller that the memory belongs to. */
  readonly caller: string;
  readonly content: string;
  readonly contentHash: string;
  readonly sensitivity: Sensitivity;
  readonly memoryType: MemoryType;
  readonly createdAt: number;
  /** The embedder that made `embedding`. */
  readonly embedder: string;
  readonly embedding: Float32Array;
}

/** The columns that ranking needs, because a caller may have thousands of memories. */
export type Candidate = Pick<StoredMemory, "nodeId" | "createdAt" | "embedding" | keyof Decay>;

interface EmbeddingBytes {
  readonly embedding: Uint8Array;
}
type Row = Omit<StoredMemory, "embedding"> & EmbeddingBytes;
type CandidateRow = Omit<Candidate, "embedding"> & EmbeddingBytes;

export interface MemoryStore {
  insert(memory: StoredMemory): void;
  /** Lists content and id of memories of other embedders, at most `limit`. */
  listForeignEmbedded(
    caller: string,
    embedder: string,
    limit: number,
  ): { nodeId: string; content: string }[];
  updateEmbedding(nodeId: string, embedder: string, embedding: Float32Array): void;
  /** Lists the caller's memories of sensitivity `none`. */
  listRecallable(caller: string, embedder: string): Candidate[];
  findById(nodeId: string): StoredMemory | undefined;
  /**
   * Lists the caller's memories of sensitivity `none` of any embedder, newest first, at most
   * `limit`.
   */
  listNewest(caller: string, limit: number): StoredMemory[];
  findByContent(caller: string, contentHash: string): StoredMemory | undefined;
  updateDecay(nodeId: string, decay: Decay): void;
  updateSensitivity(nodeId: string, sensitivity: Sensitivity): void;
  /** Deletes the memories of the lowest confidence until the caller has at most `maxCount`. */
  purgeMostDecayed(caller: string, maxCount: number, now: number): void;
  count(): number;
  /** Runs `work` in one transaction. */
  runInTransaction<T>(work: () => T): T;
  close(): void;
}

const COLUMNS = `node_id AS nodeId, caller, content, content_hash AS contentHash, sensitivity,
  memory_type AS memoryType, confidence, half_life_days AS halfLifeDays, created_at AS createdAt,
  reinforced_at AS reinforcedAt, embedder, embedding`;

export function createMemoryStore(db: Database): MemoryStore {
  const insert = db.prepare<[Row]>(`INSERT INTO memories
    VALUES (:nodeId, :caller, :content, :contentHash, :sensitivity, :memoryType, :confidence,
      :halfLifeDays, :createdAt, :reinforcedAt, :embedder, :embedding)`);
  const foreign = db.prepare<[string, string, number], { nodeId: string; content: string }>(
    `SELECT node_id AS nodeId, content FROM memories WHERE caller = ? AND embedder <> ? LIMIT ?`,
  );
  const embed = db.prepare("UPDATE memories SET embedder = ?, embedding = ? WHERE node_id = ?");
  const recallable = db.prepare<
    [string, string],
    CandidateRow
  >(`SELECT node_id AS nodeId, confidence,
    half_life_days AS halfLifeDays, reinforced_at AS reinforcedAt, created_at AS createdAt, embedding
    FROM memories WHERE caller = ? AND embedder = ? AND sensitivity = 'none'`);
  const newest = db.prepare<[string, number], Row>(`SELECT ${COLUMNS} FROM memories
    WHERE caller = ? AND sensitivity = 'none' ORDER BY created_at DESC, node_id DESC LIMIT ?`);
  const byId = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM memories WHERE node_id = ?`);
  const byContent = db.prepare<[string, string], Row>(
    `SELECT ${COLUMNS} FROM memories WHERE caller = ? AND content_hash = ?`,
  );
  const reinforce = db.prepare(`UPDATE memories
    SET confidence = ?, half_life_days = ?, reinforced_at = ? WHERE node_id = ?`);
  const classify = db.prepare("UPDATE memories SET sensitivity = ? WHERE node_id = ?");
  const purge = db.prepare(`DELETE FROM memories WHERE node_id IN (
    SELECT node_id FROM memories WHERE caller = :caller
    ORDER BY confidence * pow(0.5, (:now - reinforced_at) / 86400000.0 / half_life_days) DESC,
      node_id DESC
    LIMIT -1 OFFSET :maxCount)`);
  const countOfCaller = db
    .prepare<[string], number>("SELECT count(*) FROM memories WHERE caller = ?")
    .pluck();
  const count = db.prepare<[], number>("SELECT count(*) FROM memories").pluck();

  return {
    insert(memory) {
      insert.run({ ...memory, embedding: toBytes(memory.embedding) });
    },
    listForeignEmbedded: (caller, embedder, limit) => foreign.all(caller, embedder, limit),
    updateEmbedding(nodeId, embedder, embedding) {
      embed.run(embedder, toBytes(embedding), nodeId);
    },
    listRecallable: (caller, embedder) => recallable.all(caller, embedder).map(fromRow),
    listNewest: (caller, limit) => newest.all(caller, limit).map(fromRow),
    findById(nodeId) {
      const row = byId.get(nodeId);
      return row && fromRow(row);
    },
    findByContent(caller, contentHash) {
      const row = byContent.get(caller, contentHash);
      return row && fromRow(row);
    },
    updateDecay(nodeId, { confidence, halfLifeDays, reinforcedAt }) {
      reinforce.run(confidence, halfLifeDays, reinforcedAt, nodeId);
    },
    updateSensitivity(nodeId, sensitivity) {
      classify.run(sensitivity, nodeId);
    },
    purgeMostDecayed(caller, maxCount, now) {
      if ((countOfCaller.get(caller) ?? 0) > maxCount) purge.run({ caller, maxCount, now });
    },
    count: () => count.get() ?? 0,
    runInTransaction: (work) => db.transaction(work)(),
    close() {
      db.close();
    },
  };
}

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function fromRow<T extends EmbeddingBytes>(
  row: T,
): Omit<T, "embedding"> & { embedding: Float32Array } {
  return { ...row, embedding: toVector(row.embedding) };
}

/** Returns a view if the bytes are aligned for floats, otherwise a copy. */
function toVector(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } =
    bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes);
  return new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
}
